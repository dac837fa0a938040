"""scikeras: a classifier and a regressor in scikit-learn pipelines, grid search, cross validation, pickles."""

import os
import pickle

os.environ["KERAS_BACKEND"] = "tensorflow"

import keras
import numpy as np
from scikeras.wrappers import KerasClassifier, KerasRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from weights import set_weights


def classifier(units, meta):
    layers = [keras.layers.Dense(units, "relu"), keras.layers.Dense(meta["n_classes_"], "softmax")]
    model = keras.Sequential([keras.Input((meta["n_features_in_"],)), *layers])
    set_weights(model)
    return model


def regressor(meta):
    model = keras.Sequential(
        [keras.Input((meta["n_features_in_"],)), keras.layers.Dense(4, "tanh"), keras.layers.Dense(1)]
    )
    set_weights(model)
    return model


def numbers():
    random = np.random.RandomState(0)
    x = random.randn(60, 4).astype("float32")
    y, target = np.digitize(x.sum(1), [-1, 1]), np.sin(x.sum(1))
    options = {"epochs": 3, "batch_size": 10, "verbose": 0, "fit__shuffle": False, "optimizer": "adam"}
    options |= {"optimizer__learning_rate": 0.02}
    wrapped = KerasClassifier(classifier, units=8, loss="sparse_categorical_crossentropy", **options)
    pipeline = make_pipeline(StandardScaler(), wrapped).fit(x, y)
    found = {"probabilities": pipeline.predict_proba(x[:6]), "score": pipeline.score(x, y)}
    found["losses"] = pipeline[-1].history_["loss"]
    found["pickled"] = pickle.loads(pickle.dumps(pipeline)).predict_proba(x[:6])
    search = GridSearchCV(wrapped, {"units": [4, 8], "optimizer__learning_rate": [0.01, 0.05]}, cv=2).fit(x, y)
    found["search"] = search.cv_results_["mean_test_score"]
    wrapped = KerasRegressor(regressor, loss="mse", **options)
    found["validation"] = cross_val_score(wrapped, x, target, cv=3)
    return found | {"regression": wrapped.fit(x, target).predict(x[:6])}
