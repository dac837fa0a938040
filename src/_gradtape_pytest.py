"""pytest's plugin: where a program's tests turn warnings into errors, NumPy's about gradtape's kernels stay silent.

Division by zero and overflow give inf and nan, as in TensorFlow, which warns of neither.
"""


def pytest_configure(config):
    """The filter that `import gradtape` sets, which pytest's own filters would hide."""
    config.addinivalue_line("filterwarnings", r"ignore::RuntimeWarning:gradtape\.")
