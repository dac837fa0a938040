"""`experimental_enable_numpy_behavior`: results of expressions after the call, compared with TensorFlow's."""

import json
import subprocess
import sys

import pytest

# The dtype and value of a tensor, the text of another value, or the name of an exception, from TensorFlow.
ANSWERS = [
    ("x.T", ("int32", [[1, 4], [2, 5], [3, 6]])),
    ("x.reshape(3,2)", ("int32", [[1, 2], [3, 4], [5, 6]])),
    ("x.reshape((3,2), order='F')", ("int32", [[1, 5], [4, 3], [2, 6]])),
    ("x.reshape(-1)", ("int32", [1, 2, 3, 4, 5, 6])),
    ("x.ravel()", ("int32", [1, 2, 3, 4, 5, 6])),
    ("x.flatten('F')", ("int32", [1, 4, 2, 5, 3, 6])),
    ("x.transpose()", ("int32", [[1, 4], [2, 5], [3, 6]])),
    ("x.astype(tf.float32)", ("float32", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])),
    ("x.astype(np.int64)", ("int64", [[1, 2, 3], [4, 5, 6]])),
    ("x.size", "np.int64(6)"),
    ("x.ndim", "2"),
    ("x.tolist()", [["1", "2", "3"], ["4", "5", "6"]]),
    ("x.clip(2,4)", ("int32", [[2, 2, 3], [4, 4, 4]])),
    ("f.clip(None, 2)", ("float32", [[1.5, 2.0, -3.5]])),
    ("x.max(), x.min(axis=0)", [("int32", 6), ("int32", [1, 2, 3])]),
    ("x.mean()", ("float64", 3.5)),
    ("x.mean(axis=1)", ("float64", [2.0, 5.0])),
    ("x.data", ("int32", [[1, 2, 3], [4, 5, 6]])),
    ("+x", ("int32", [[1, 2, 3], [4, 5, 6]])),
    ("round(f)", ("float32", [[2.0, 2.0, -4.0]])),
    ("x+f", ("float64", [[2.5, 4.5, -0.5], [5.5, 7.5, 2.5]])),
    ("f+x", ("float64", [[2.5, 4.5, -0.5], [5.5, 7.5, 2.5]])),
    ("x*2.5", ("float64", [[2.5, 5.0, 7.5], [10.0, 12.5, 15.0]])),
    ("2.5*x", ("float64", [[2.5, 5.0, 7.5], [10.0, 12.5, 15.0]])),
    ("f*2", ("float32", [[3.0, 5.0, -7.0]])),
    ("x/2", ("float64", [[0.5, 1.0, 1.5], [2.0, 2.5, 3.0]])),
    ("x//f", ("float64", [[0.0, 0.0, -1.0], [2.0, 2.0, -2.0]])),
    ("2-x", ("int32", [[1, 0, -1], [-2, -3, -4]])),
    ("x-tf.constant(1,tf.int8)", ("int32", [[0, 1, 2], [3, 4, 5]])),
    ("x**2.0", ("float64", [[1.0, 4.0, 9.0], [16.0, 25.0, 36.0]])),
    ("2.0**x", ("float64", [[2.0, 4.0, 8.0], [16.0, 32.0, 64.0]])),
    ("x % 2.5", ("float64", [[1.0, 2.0, 0.5], [1.5, 0.0, 1.0]])),
    ("x==1.0", ("bool", [[True, False, False], [False, False, False]])),
    ("x!=f", ("bool", [[True, True, True], [True, True, True]])),
    ("x<2.5", ("bool", [[True, True, False], [False, False, False]])),
    ("x@f.T", ("float64", [[-4.0], [-2.5]])),
    ("f+np.float64(1)", ("float64", [[2.5, 3.5, -2.5]])),
    ("f+[1.0,2.0,3.0]", ("float32", [[2.5, 4.5, -0.5]])),
    ("f+[1,2,3]", ("float32", [[2.5, 4.5, -0.5]])),
    ("x+True", ("int32", [[2, 3, 4], [5, 6, 7]])),
    ("v+tf.constant([1,2])", ("float64", [2.5, 4.5])),
    ("v*2", ("float32", [3.0, 5.0])),
    ("tf.constant([1,2])+v", ("float64", [2.5, 4.5])),
    ("tf.constant(1)+tf.constant(2.0)", ("float64", 3.0)),
    ("x[[0,1],[2,0]]", ("int32", [3, 4])),
    ("x[[1,0]]", ("int32", [[4, 5, 6], [1, 2, 3]])),
    ("x[:, [2,0]]", ("int32", [[3, 1], [6, 4]])),
    ("x[..., [2,0]]", ("int32", [[3, 1], [6, 4]])),
    ("x[np.array([1])]", ("int32", [[4, 5, 6]])),
    ("x[tf.constant([[0,1],[1,0]])]", ("int32", [[[1, 2, 3], [4, 5, 6]], [[4, 5, 6], [1, 2, 3]]])),
    ("x[x>2]", ("int32", [3, 4, 5, 6])),
    ("x[0]", ("int32", [1, 2, 3])),
    ("x[-1,1:]", ("int32", [5, 6])),
    ("x[None,0,[1,2]]", ("int32", [[2, 3]])),
    ("x[[True,False]]", ("int32", [[1, 2, 3]])),
    ("x[:, [True,False,True]]", ("int32", [[1, 3], [4, 6]])),
    ("x[[-1]]", ("int32", [[4, 5, 6]])),
    ("x[1.5]", "IndexError"),
    ("x[[1.5]]", "IndexError"),
    ("tf.reshape(tf.range(24),[2,3,4])[[0,1],:,[1,2]]", ("int32", [[1, 5, 9], [14, 18, 22]])),
    ("tf.reshape(tf.range(24),[2,3,4])[:,[0,1],[1,2]]", ("int32", [[1, 6], [13, 18]])),
    ("tf.reshape(tf.range(24),[2,3,4])[:,[[0],[2]],[1,2]]", ("int32", [[[1, 2], [9, 10]], [[13, 14], [21, 22]]])),
    ("tf.reshape(tf.range(24),[2,3,4])[1,[0,1]]", ("int32", [[12, 13, 14, 15], [16, 17, 18, 19]])),
    ("tf.reshape(tf.range(24),[2,3,4])[1,:,[0,1]]", ("int32", [[12, 13], [16, 17], [20, 21]])),
    ("x & tf.constant(3)", ("int32", [[1, 2, 3], [0, 1, 2]])),
    ("x & tf.constant(3, tf.int64)", ("int64", [[1, 2, 3], [0, 1, 2]])),
    ("tnp.sin(1)", ("float64", 0.8414709848078965)),
    ("tnp.zeros(2)", ("float64", [0.0, 0.0])),
    ("tnp.array(1.5)", ("float64", 1.5)),
    ("tnp.array([1.5, 2])", ("float64", [1.5, 2.0])),
    ("tnp.add(x, 1.5)", ("float64", [[2.5, 3.5, 4.5], [5.5, 6.5, 7.5]])),
    ("tnp.mean([1,2])", ("float64", 1.5)),
    ("f * 2.5 + x", ("float64", [[4.75, 8.25, -5.75], [7.75, 11.25, -2.75]])),
    ("tf.add(x, f)", "InvalidArgumentError"),
    ("tf.function(lambda a, b: a + b)(x, f)", ("float64", [[2.5, 4.5, -0.5], [5.5, 7.5, 2.5]])),
    ("abs(-x)", ("int32", [[1, 2, 3], [4, 5, 6]])),
    ("x.sum()", "AttributeError"),
    ("x.item()", "AttributeError"),
    ("v.T", "AttributeError"),
    ("v.reshape(2,1)", "AttributeError"),
    ("x.astype('float16')", ("float16", [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])),
    ("x.prod()", "AttributeError"),
]
PREFERRING_FLOAT32 = [
    ("x*2.5", ("float64", [[2.5, 5.0, 7.5], [10.0, 12.5, 15.0]])),
    ("f+np.float64(1)", ("float32", [[2.5, 3.5, -2.5]])),
    ("f+[1.0,2.0,3.0]", ("float32", [[2.5, 4.5, -0.5]])),
    ("f+[1,2,3]", ("float32", [[2.5, 4.5, -0.5]])),
    ("tnp.sin(1)", ("float64", 0.8414709848078965)),
    ("tnp.zeros(2)", ("float64", [0.0, 0.0])),
    ("tnp.array(1.5)", ("float32", 1.5)),
    ("tnp.array([1.5, 2])", ("float32", [1.5, 2.0])),
    ("tnp.add(x, 1.5)", ("float64", [[2.5, 3.5, 4.5], [5.5, 6.5, 7.5]])),
    ("tnp.mean([1,2])", ("float64", 1.5)),
]

PROGRAM = """
import json, sys, numpy as np, gradtape as tf
arguments, cases = json.load(sys.stdin)
tf.experimental.numpy.experimental_enable_numpy_behavior(**arguments)
tnp = tf.experimental.numpy
x, f = tf.constant([[1, 2, 3], [4, 5, 6]]), tf.constant([[1.5, 2.5, -3.5]])
v = tf.Variable([1.5, 2.5])

def said(result):
    if isinstance(result, list | tuple):
        return [said(part) for part in result]
    return (result.dtype.name, result.numpy().tolist()) if hasattr(result, "numpy") else repr(result)

def evaluated(case):
    try:
        return said(eval(case))
    except Exception as error:
        return type(error).__name__

print(json.dumps([evaluated(case) for case in cases]))
"""


def run(arguments, cases):
    given = json.dumps([arguments, cases])
    done = subprocess.run([sys.executable, "-c", PROGRAM], input=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("arguments", "answers"), [({}, ANSWERS), ({"prefer_float32": True}, PREFERRING_FLOAT32)])
def test_tensors_behave_as_in_tensorflow(arguments, answers):
    got = run(arguments, [case for case, _ in answers])
    plain = json.loads(json.dumps([answer for _, answer in answers]))
    wrong = [
        (case, mine, theirs) for (case, _), mine, theirs in zip(answers, got, plain, strict=True) if mine != theirs
    ]
    assert not wrong


def test_without_conversion_dtypes_must_agree():
    assert run({"dtype_conversion_mode": "off"}, ["x + f", "x.T.size", "x[[1]]"]) == [
        "InvalidArgumentError", "np.int64(6)", ["int32", [[4, 5, 6]]]
    ]  # fmt: skip


@pytest.mark.parametrize(("mode", "error"), [("none", ValueError), ("all", NotImplementedError)])
def test_other_modes_are_refused(mode, error):
    import gradtape as tf

    with pytest.raises(error, match=mode):
        tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode=mode)
    assert not hasattr(tf.Tensor, "before_promotion")
    with pytest.raises(AttributeError):
        tf.constant([1]).T  # noqa: B018


def test_gradients_flow_through_methods_and_promotion():
    code = """
import gradtape as tf
tf.experimental.numpy.experimental_enable_numpy_behavior()
w = tf.Variable([1.0, 2.0])

@tf.function
def mean(x):
    return (w.value()[[0, 1, 0]].reshape(3, 1) * x.T).mean()

x = tf.constant([[1, 2, 3], [4, 5, 6]])
for f in (mean.python_function, mean):
    with tf.GradientTape() as tape:
        y = f(x)
    print(y.dtype.name, *(round(g, 4) for g in tape.gradient(y, w).numpy().tolist()))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["float64 2.3333 1.1667"] * 2, done.stderr
