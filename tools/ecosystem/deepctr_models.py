"""deepctr: DeepFM, DCN, xDeepFM, AutoInt and DIN on sparse, dense and sequence features, trained with fit."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
from deepctr.feature_column import DenseFeat, SparseFeat, VarLenSparseFeat, get_feature_names
from deepctr.models import DCN, DIN, AutoInt, DeepFM, xDeepFM
from weights import set_weights


def numbers():
    random = np.random.RandomState(0)
    columns = [SparseFeat("user", 10, embedding_dim=4), SparseFeat("item", 12, embedding_dim=4), DenseFeat("price", 1)]
    data = {
        "user": random.randint(0, 10, 32), "item": random.randint(0, 12, 32),
        "price": random.randn(32).astype("float32"),
    }  # fmt: skip
    labels = random.randint(0, 2, 32)
    options = {"dnn_hidden_units": (8,), "dnn_dropout": 0}
    models = {
        "DeepFM": DeepFM(columns, columns, **options),
        "DCN": DCN(columns, columns, cross_num=2, **options),
        "xDeepFM": xDeepFM(columns, columns, cin_layer_size=(4,), **options),
        "AutoInt": AutoInt(columns, columns, att_layer_num=1, att_head_num=2, **options),
    }
    found = {}
    for name, model in models.items():
        set_weights(model)
        model.compile("adagrad", "binary_crossentropy", metrics=["binary_crossentropy"])
        inputs = {key: data[key] for key in get_feature_names(columns)}
        history = model.fit(inputs, labels, batch_size=8, epochs=2, shuffle=False, verbose=0).history
        found[name] = [*history["loss"], *model.predict(inputs, batch_size=32, verbose=0)[:4, 0]]
    item = SparseFeat("item", 12, embedding_dim=4)
    history = VarLenSparseFeat(SparseFeat("hist_item", 12, 4, embedding_name="item"), maxlen=3, length_name="length")
    model = DIN([columns[0], item, history], ["item"], dnn_hidden_units=(8,), att_hidden_size=(4,), dnn_dropout=0)
    set_weights(model)
    model.compile("adam", "binary_crossentropy")
    data["hist_item"], data["length"] = random.randint(1, 12, (32, 3)), random.randint(1, 4, 32)
    inputs = {key: data[key] for key in ("user", "item", "hist_item", "length")}
    history = model.fit(inputs, labels, batch_size=8, epochs=2, shuffle=False, verbose=0).history
    found["DIN"] = [*history["loss"], *model.predict(inputs, verbose=0)[:4, 0]]
    return found
