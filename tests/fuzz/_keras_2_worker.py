"""A process with Keras 2, on gradtape or on TensorFlow, that trains random models; it communicates in pickles.

`trained(seed, mode)` draws the same model, weights, data and options from a seed on both. The mode "fit" calls `fit` as
it was drawn, "eager" with `run_eagerly=True`, and "loop" is a loop over batches with a tape. "perturbed N" calls `fit`
with the inputs and the initial weights changed by a unit in the last place.
"""

import os
import pickle
import sys
import tempfile

import numpy as np
import tensorflow as tf

keras, L = tf.keras, tf.keras.layers
_ACTIVATIONS = ["relu", "tanh", "sigmoid", "softplus", "linear", "swish"]
_OPTIMIZERS = {
    "SGD": {"momentum": 0.9, "nesterov": True}, "Adam": {"amsgrad": True}, "AdamW": {"weight_decay": 0.01},
    "Adamax": {}, "Nadam": {}, "RMSprop": {"momentum": 0.5, "centered": True}, "Adagrad": {}, "Adadelta": {},
    "Ftrl": {"l1_regularization_strength": 0.01}, "Lion": {},
}  # fmt: skip
_CLIPS = [{}, {}, {"clipnorm": 0.1}, {"clipvalue": 0.05}, {"global_clipnorm": 0.1}]
_LOSSES = {1: ["mse", "mae", "huber", "log_cosh"], 3: ["sparse_categorical_crossentropy"], 2: ["binary_crossentropy"]}

_LEFT_OUT = ("rng", "x", "y", "plans", "sample_weight", "perturbation")  # of descriptions


class Case:
    """A model, its data and the options of its training, drawn from a seed."""

    def __init__(self, seed):
        self.rng = rng = np.random.RandomState([seed, 8])
        self.kind = ["sequential", "functional", "subclassed"][rng.randint(3)]
        self.input = ["numbers", "words", "images"][rng.choice(3, p=[0.4, 0.4, 0.2])]
        count = rng.randint(5, 14)
        self.x = {
            "numbers": lambda: rng.randn(count, 4), "words": lambda: rng.randint(0, 6, (count, 5)),
            "images": lambda: rng.randn(count, 5, 5, 2),
        }[self.input]()  # fmt: skip
        self.x = self.x.astype("int32" if self.input == "words" else "float32")
        self.only_as_drawn = False  # whether eager code gives other numbers, in TensorFlow too
        self.plans = self._plans()
        self.outputs = [1, 1, 2, 3][rng.randint(4)]
        self.loss = _LOSSES[self.outputs][rng.randint(len(_LOSSES[self.outputs]))]
        self.y = {1: lambda: rng.randn(count, 1).astype("float32"), 2: lambda: rng.randint(0, 2, (count, 2)) * 1.0,
                  3: lambda: rng.randint(0, 3, count)}[self.outputs]()  # fmt: skip
        self.batch, self.epochs = rng.randint(2, 7), rng.randint(1, 4)
        self.steps_per_execution = [1, 1, 2, 3][rng.randint(4)]
        self.sample_weight = rng.uniform(0, 2, count).astype("float32") if rng.rand() < 0.3 else None
        self.class_weight = {0: 0.5, 1: 2.0, 2: 1.5} if self.outputs == 3 and rng.rand() < 0.5 else None
        self.metrics = [["mae"], ["mse", "mae"], []][rng.randint(3)] if self.outputs < 3 else ["accuracy"]
        self.validates, self.as_dataset = rng.rand() < 0.4, rng.rand() < 0.3
        rate = ["number", "schedule", "callback", "plateau", "stop"][rng.randint(5)]
        self.custom_step = rng.rand() < 0.3
        self.legacy = rng.rand() < 0.4
        names = [n for n in _OPTIMIZERS if not self.legacy or n not in ("AdamW", "Lion")]
        self.optimizer_name = names[rng.randint(len(names))]
        self.rate = "number" if self.optimizer_name == "Nadam" and rate == "schedule" else rate
        self.only_as_drawn |= self.optimizer_name == "Nadam" and not self.legacy  # it counts steps in Python
        self.options = dict(_OPTIMIZERS[self.optimizer_name]) if rng.rand() < 0.5 else {}
        self.clip = _CLIPS[rng.randint(len(_CLIPS))]
        self.weights_seed = rng.randint(10**6)
        self.saves_h5 = rng.rand() < 0.5
        self.perturbation = None  # a random state, or none

    def perturb(self, perturbation):
        """Changes the inputs, if they are real, and the weights that `model` sets by a unit in the last place."""
        self.perturbation = np.random.RandomState(perturbation)
        if self.input != "words":
            self.x = self._perturbed(self.x)

    def _perturbed(self, x):
        if self.perturbation is None:
            return x
        x = np.asarray(x, "float32")
        return np.nextafter(x, self.perturbation.choice([-np.inf, np.inf], x.shape).astype("float32"))

    def _plans(self):
        """Returns functions that create the layers between the input and the output."""
        rng, plans = self.rng, []
        if self.input == "words":
            size, masks = rng.randint(2, 4), rng.rand() < 0.4
            plans.append(lambda: L.Embedding(6, size, mask_zero=masks))
            kinds = ["SimpleRNN", "LSTM", "GRU", "mean"] + ([] if masks else ["flat"])
            kind, units = kinds[rng.randint(len(kinds))], rng.randint(2, 4)
            if kind in ("mean", "flat"):
                plans.append(L.GlobalAveragePooling1D if kind == "mean" else L.Flatten)
            elif rng.rand() < 0.3:
                plans.append(lambda: L.Bidirectional(getattr(L, kind)(units)))
            else:
                plans.append(lambda: getattr(L, kind)(units))
        elif self.input == "images":
            filters, strides, padding = rng.randint(2, 4), rng.randint(1, 3), ["same", "valid"][rng.randint(2)]
            plans.append(lambda: L.Conv2D(filters, 2, strides, padding, activation="relu"))
            pool = [L.MaxPooling2D, L.AveragePooling2D, L.GlobalAveragePooling2D][rng.randint(3)]
            plans += [pool, L.Flatten]
        for _ in range(rng.randint(0, 4)):
            plans.append(self._hidden())
        return plans

    def _hidden(self):
        units, activation = self.rng.randint(2, 5), _ACTIVATIONS[self.rng.randint(len(_ACTIVATIONS))]
        match self.rng.choice(5, p=[0.5, 0.15, 0.15, 0.1, 0.1]):
            case 0:
                decay = [None, "l2"][self.rng.randint(2)]
                return lambda: L.Dense(units, activation, kernel_regularizer=decay)
            case 1:
                return L.BatchNormalization
            case 2:
                return L.LayerNormalization
            case 3:
                self.only_as_drawn = True  # random numbers
                return lambda: L.Dropout(0.3)
            case _:
                return lambda: L.Activation(activation)

    def output(self):
        return L.Dense(self.outputs, {1: None, 2: "sigmoid", 3: "softmax"}[self.outputs])

    def model(self):
        """Returns a new model with the weights of the case."""
        names = {"sequential": keras.Sequential, "functional": keras.Model, "subclassed": Grown}
        base = names[self.kind]
        if self.custom_step:
            base = type("Stepping", (Stepping, base), {})
        layers = [plan() for plan in self.plans]
        if self.kind == "sequential":
            model = base([L.InputLayer(self.x.shape[1:], dtype=self.x.dtype), *layers, self.output()])
        elif self.kind == "subclassed":
            model = base()
            model.grow(layers, self.output())
        else:
            inputs = hidden = keras.Input(self.x.shape[1:], dtype=self.x.dtype)
            for layer in layers:
                after = layer(hidden)
                is_same = after.shape.as_list() == hidden.shape.as_list() and after.dtype == hidden.dtype
                hidden = L.Add()([hidden, after]) if is_same and isinstance(layer, L.Dense) else after
            model = base(inputs, self.output()(hidden))
        model(self.x[:1])
        rng = np.random.RandomState(self.weights_seed)
        weights = [rng.uniform(0.1, 0.9, v.shape) if "variance" in v.name or "gamma" in v.name
                   else rng.randn(*v.shape) * 0.5 for v in model.weights]  # fmt: skip
        model.set_weights([self._perturbed(w) for w in weights])
        return model

    def optimizer(self):
        rate = 0.05
        if self.rate == "schedule":
            rate = keras.optimizers.schedules.ExponentialDecay(0.05, 2, 0.7)
        where = keras.optimizers.legacy if self.legacy else keras.optimizers
        return getattr(where, self.optimizer_name)(rate, **self.options, **self.clip)

    def callbacks(self):
        return {
            "callback": lambda: [keras.callbacks.LearningRateScheduler(lambda epoch: 0.05 / (1 + epoch))],
            "plateau": lambda: [keras.callbacks.ReduceLROnPlateau("loss", 0.5, 1)],
            "stop": lambda: [keras.callbacks.EarlyStopping("loss", patience=0)],
        }.get(self.rate, list)()

    def describe(self):
        return {k: v for k, v in vars(self).items() if k not in _LEFT_OUT} | {
            "layers": [type(plan()).__name__ for plan in self.plans], "rows": len(self.x),
            "weighted": self.sample_weight is not None,
        }  # fmt: skip


class Grown(keras.Model):
    """A model whose list of layers grows through the name that the program gave it."""

    def __init__(self):
        super().__init__()
        mine = []
        self.blocks, self.heads = mine, {}
        self.mine = lambda: mine

    def grow(self, layers, output):
        for layer in layers:
            self.mine().append(layer)
        self.heads["out"] = output

    def call(self, x):
        for block in self.blocks:
            x = block(x)
        return self.heads["out"](x)


class Stepping:
    """A mixin with a training step of its own."""

    def train_step(self, data):
        x, y, weight = keras.utils.unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            predictions = self(x, training=True)
            loss = self.compiled_loss(y, predictions, weight, regularization_losses=self.losses)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        self.compiled_metrics.update_state(y, predictions, weight)
        return {metric.name: metric.result() for metric in self.metrics}


def trained(seed, mode):
    """Returns the numbers of a training: losses, metrics, weights, and predictions before and after saving."""
    case = Case(seed)
    if mode.startswith("perturbed"):
        case.perturb(int(mode.split()[1]))
        mode = "fit"
    if mode != "fit" and (case.only_as_drawn or (mode == "loop" and case.rate in ("plateau", "stop"))):
        return None
    keras.backend.clear_session()
    keras.utils.set_random_seed(seed)
    model, optimizer = case.model(), case.optimizer()
    if mode == "loop":
        found = {"loss": _loop(case, model, optimizer)}
    else:
        found = _fit(case, model, optimizer, mode)
    predictions = model.predict(case.x, verbose=0) if mode != "loop" else model(case.x).numpy()
    found["weights"] = [w for w in model.get_weights()]
    found["predictions"] = predictions
    if mode == "fit" and (case.kind != "subclassed" or case.saves_h5):
        again = case.model()
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "w.h5" if case.saves_h5 else "w")
            model.save_weights(path)
            again.load_weights(path)
        if not np.array_equal(again.predict(case.x, verbose=0), predictions):
            found["problem"] = "loaded weights predict something else"
    return found


def _fit(case, model, optimizer, mode):
    eager = mode == "eager"
    model.compile(optimizer, case.loss, metrics=case.metrics, run_eagerly=eager,
                  steps_per_execution=1 if eager else case.steps_per_execution)  # fmt: skip
    options = {"epochs": case.epochs, "verbose": 0, "callbacks": case.callbacks(), "class_weight": case.class_weight}
    if case.validates:
        options["validation_data"] = (case.x[:3], case.y[:3])
    if case.as_dataset:
        parts = (case.x, case.y) if case.sample_weight is None else (case.x, case.y, case.sample_weight)
        history = model.fit(tf.data.Dataset.from_tensor_slices(parts).batch(case.batch), **options)
    else:
        history = model.fit(case.x, case.y, case.batch, shuffle=False, sample_weight=case.sample_weight, **options)
    found = dict(history.history)
    found["evaluate"] = model.evaluate(case.x, case.y, verbose=0)
    return found


def _loop(case, model, optimizer):
    loss_of, losses = keras.losses.get(case.loss), []
    if isinstance(loss_of, type):
        loss_of = loss_of()
    weights = np.ones(len(case.x), "float32") if case.sample_weight is None else case.sample_weight
    if case.class_weight is not None:
        weights = weights * np.array([case.class_weight[label] for label in case.y], "float32")
    for epoch in range(case.epochs):
        if case.rate == "callback":
            optimizer.learning_rate = 0.05 / (1 + epoch)
        total = 0.0
        for start in range(0, len(case.x), case.batch):
            rows = slice(start, start + case.batch)
            with tf.GradientTape() as tape:
                each = loss_of(tf.constant(case.y[rows]), model(case.x[rows], training=True))
                loss = tf.reduce_mean(each * weights[rows]) + sum(model.losses)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            total += float(loss) * len(case.x[rows])
        losses.append(total / len(case.x))
    return losses


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that a program prints is not a result
    while True:
        try:
            asked_seed, asked_modes = pickle.load(sys.stdin.buffer)
        except EOFError:
            break
        results = {}
        for asked_mode in asked_modes:
            try:
                results[asked_mode] = trained(asked_seed, asked_mode)
            except Exception as error:
                results[asked_mode] = f"{type(error).__name__}: {str(error)[-600:]}"
        pickle.dump((Case(asked_seed).describe(), results), answers)
        answers.flush()
