"""Optimizer steps of `tf.raw_ops` on variables, and projective transforms of images."""

SLOTS = {
    "Adam": "m v", "AdamWithAmsgrad": "m v vhat", "AdaMax": "m v", "Adadelta": "accum accum_update", "Adagrad": "accum",
    "AdagradV2": "accum", "ProximalAdagrad": "accum", "RMSProp": "ms mom", "CenteredRMSProp": "mg ms mom",
    "Momentum": "accum", "KerasMomentum": "accum", "Ftrl": "accum linear", "FtrlV2": "accum linear",
}  # fmt: skip
MOMENTS = {"beta1_power": 0.9, "beta2_power": 0.99, "lr": 0.1, "beta1": 0.9, "beta2": 0.99, "epsilon": 1e-3}
STEPS = [
    ("Adam", MOMENTS), ("Adam", {**MOMENTS, "use_nesterov": True}), ("AdamWithAmsgrad", MOMENTS),
    ("AdaMax", {name: x for name, x in MOMENTS.items() if name != "beta2_power"}),
    ("Adadelta", {"lr": 0.1, "rho": 0.9, "epsilon": 1e-3}), ("Adagrad", {"lr": 0.1}),
    ("AdagradV2", {"lr": 0.1, "epsilon": 1e-3}), ("AdagradV2", {"lr": 0.1, "epsilon": 1e-3, "update_slots": False}),
    ("ProximalAdagrad", {"lr": 0.1, "l1": 0.3, "l2": 0.1}), ("ProximalAdagrad", {"lr": 0.1, "l1": 0.0, "l2": 0.1}),
    ("RMSProp", {"lr": 0.1, "rho": 0.9, "momentum": 0.5, "epsilon": 1e-3}),
    ("CenteredRMSProp", {"lr": 0.1, "rho": 0.9, "momentum": 0.5, "epsilon": 3.0}),
    ("Momentum", {"lr": 0.1, "momentum": 0.9}), ("Momentum", {"lr": 0.1, "momentum": 0.9, "use_nesterov": True}),
    ("KerasMomentum", {"lr": 0.1, "momentum": 0.9}),
    ("KerasMomentum", {"lr": 0.1, "momentum": 0.9, "use_nesterov": True}),
    ("Ftrl", {"lr": 0.1, "l1": 0.3, "l2": 0.1, "lr_power": -0.5}),
    ("Ftrl", {"lr": 0.1, "l1": 0.3, "l2": 0.1, "lr_power": -0.4}),
    ("Ftrl", {"lr": 0.1, "l1": 0.3, "l2": 0.1, "lr_power": -0.5, "multiply_linear_by_lr": True}),
    ("FtrlV2", {"lr": 0.1, "l1": 0.3, "l2": 0.1, "l2_shrinkage": 0.2, "lr_power": -0.5}),
]  # fmt: skip
DENSE_ONLY = ("Adam", "AdamWithAmsgrad", "AdaMax")
TRANSFORMS = ([0.8, 0.3, -1, -0.3, 0.8, 2, 0, 0], [1, 0.1, -9, 0, 1, 7, 0.01, 0.02], [1.5, 0, -14, 0, 1.3, 9, 0, 0])


def _step(name, hyper, sparse):
    def run(tf):
        variables = [tf.Variable([[0.5, -1.0], [2.0, 0.1], [-0.3, 0.7]])]
        variables += [tf.Variable([[0.4, 1.1], [0.2, 0.6], [0.9, 0.3]]) for _ in SLOTS[name].split()]
        places = dict(zip(["var", *SLOTS[name].split()], [v.handle for v in variables], strict=True))
        gradient = [[0.2, -0.7], [1.5, 0.3], [-0.1, 0.05]]
        given = {"grad": gradient[:2], "indices": [2, 0]} if sparse else {"grad": gradient}
        getattr(tf.raw_ops, f"Resource{'Sparse' * sparse}Apply{name}")(**places, **given, **hyper)
        return [v.numpy() for v in variables]

    return run


CASES = [
    (f"Resource{'Sparse' * sparse}Apply{name}({hyper})", _step(name, hyper, sparse))
    for sparse in (False, True)
    for name, hyper in STEPS
    if not (sparse and name in DENSE_ONLY)
]
for mode in ("CONSTANT", "REFLECT", "WRAP", "NEAREST"):
    for interpolation in ("NEAREST", "BILINEAR"):
        CASES += [
            (
                f"ImageProjectiveTransformV3({mode}, {interpolation}, {transform})",
                "tf.raw_ops.ImageProjectiveTransformV3(images=np.arange(24, dtype='float32').reshape(1, 4, 6, 1) ** "
                f"1.5, transforms=np.array([{transform}], 'float32'), output_shape=[5, 4], fill_value=0.5, "
                f"interpolation='{interpolation}', fill_mode='{mode}')",
            )
            for transform in TRANSFORMS
        ]
CASES += [
    (
        "ImageProjectiveTransformV2(integers)",
        "tf.raw_ops.ImageProjectiveTransformV2(images=np.arange(24, dtype='int32').reshape(1, 4, 6, 1), "
        "transforms=np.array([[0, 1, 0, 1, 0, 0, 0, 0]], 'float32'), output_shape=[3, 3], interpolation='NEAREST')",
    )
]
