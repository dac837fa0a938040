"""Transforms, frames and windows of signals, compared with TensorFlow."""

X = "tf.constant([1.0, 2.0, -3.0, 4.0, 0.5])"
D = "tf.constant([1.0, 2.0, -3.0, 4.0, 0.5], tf.float64)"
Z = "tf.complex(tf.constant([1.0, 2.0, -3.0, 4.0, 0.5]), tf.constant([0.0, -1.0, 2.0, 0.3, 1.0]))"
M = "tf.reshape(tf.range(12.0) ** 2 / 10, (3, 4))"
ZM = f"tf.complex({M}, 1 - {M})"
CUBE = "tf.reshape(tf.range(24.0, dtype=tf.float64) ** 2 / 50, (2, 3, 4))"
ZCUBE = f"tf.complex({CUBE}, 2 - {CUBE})"
LONG = "tf.sin(tf.range(24.0, dtype=tf.float64) ** 2 / 20)"

_VALUES = {
    "fft": (
        f"fft({Z})",
        f"fft({ZM})",
        f"fft({ZCUBE})",
        f"fft({X})",
        "fft(tf.constant(1 + 0j))",
        "fft([1, 2])",
        "fft(tf.zeros((0,), tf.complex64))",
        f"ifft({Z})",
        f"ifft({ZCUBE})",
        f"fft2d({ZM})",
        f"ifft2d({ZCUBE})",
        f"fft2d({Z})",
        f"fft3d({ZCUBE})",
        f"ifft3d({ZCUBE})",
        f"fft3d({ZM})",
        "fft(tf.zeros((0, 3), tf.complex64))",
    ),
    "rfft": (
        f"rfft({X})",
        f"rfft({D})",
        "rfft(np.zeros([2, 0], np.float32))",
        f"rfft({X}, [3])",
        f"rfft({X}, [8])",
        f"rfft({X}, tf.constant([4]))",
        f"rfft({X}, 3)",
        f"rfft({Z})",
        "rfft([1, 2, 3])",
        f"rfft(tf.cast({X}, tf.float16))",
        f"rfft({X}, [4, 4])",
        f"rfft2d({M})",
        f"rfft2d({M}, [4, 3])",
        f"rfft2d({CUBE}, [2, 6])",
        f"rfft2d({M}, [4])",
        f"rfft3d({CUBE})",
        f"rfft3d({CUBE}, [3, 2, 5])",
        f"rfft2d({X})",
    ),
    "irfft": (
        f"irfft({Z})",
        f"irfft({Z}, [5])",
        f"irfft({Z}, [12])",
        f"irfft({Z}, [9])",
        f"irfft({X})",
        f"irfft2d({ZM})",
        f"irfft2d({ZM}, [3, 5])",
        f"irfft2d({ZM}, [2, 7])",
        f"irfft3d({ZCUBE})",
        f"irfft3d({ZCUBE}, [2, 3, 7])",
        f"irfft(tf.cast({Z}, tf.complex128))",
    ),
    "shift": (
        f"fftshift({M})",
        f"fftshift({M}, axes=1)",
        f"ifftshift({M}, axes=[0])",
        f"ifftshift({CUBE})",
        "fftshift([1, 2, 3, 4, 5])",
        "ifftshift([1, 2, 3, 4, 5])",
        f"fftshift({CUBE}, axes=(0, -1))",
    ),
    "dct": (
        *(
            f"{f}({D}, type={kind}{more})"
            for f in ("dct", "idct")
            for kind in (1, 2, 3, 4)
            for more in ("", ", n=3", ", n=8")
        ),
        *(f"{f}({D}, type={kind}, norm='ortho')" for f in ("dct", "idct") for kind in (1, 2, 3, 4)),
        f"dct({M})",
        f"dct({X}, type=5)",
        f"dct({M}, axis=0)",
        f"dct({X}, norm='z')",
        "dct([1, 2])",
        f"dct(tf.cast({X}, tf.float16))",
        f"dct({X}, n=0)",
        "dct(tf.ones((1,)), type=1)",
        "dct(tf.ones((1,)))",
        "dct(tf.ones((2, 1)), type=4)",
    ),
    "frame": (
        "frame(1, 1, 1)",
        "frame([1.0, 2.0], 2, 1, pad_end=True, pad_value=[1.0])",
        "frame(tf.range(7), 3, 2)",
        "frame(tf.range(7.0), 4, 3, pad_end=True, pad_value=9)",
        f"frame({M}, 2, 1, axis=0)",
        f"frame({CUBE}, 2, 1, axis=1)",
        f"frame({CUBE}, 2, 2, axis=-2, pad_end=True)",
        f"frame({X}, 9, 2)",
        f"frame({X}, 9, 2, pad_end=True)",
        f"frame({X}, 2, 0)",
        f"frame({X}, 0, 1)",
        f"frame({X}, [2], 1)",
        f"frame({X}, 2, 1, axis=3)",
        f"frame({X}, tf.constant(2), np.int32(3))",
        "frame(tf.range(7), 4, 3, pad_end=True, pad_value=1.5)",
        "frame(tf.zeros((0,)), 2, 1)",
        f"frame({X}, 1, 7, pad_end=True)",
        "frame(tf.range(10), 2, 5)",
    ),
    "overlap_and_add": (
        f"overlap_and_add({M}, 2)",
        f"overlap_and_add({M}, 5)",
        f"overlap_and_add({M}, 3)",
        f"overlap_and_add({M}, 1)",
        f"overlap_and_add({M}, 4)",
        f"overlap_and_add({CUBE}, 2)",
        f"overlap_and_add({X}, 2)",
        "overlap_and_add(tf.ones((3, 4), tf.int32), 2)",
        f"overlap_and_add({M}, 2.0)",
        f"overlap_and_add({M}, [2])",
        f"overlap_and_add({M}, 0)",
    ),
    "stft": (
        f"stft({LONG}, 5, 3)",
        f"stft({LONG}, 8, 4)",
        f"stft({LONG}, 5, 3, pad_end=True)",
        f"stft({LONG}, 4, 3, window_fn=None)",
        f"stft({LONG}, 4, 3, fft_length=5)",
        f"stft({LONG}, 6, 3, fft_length=4)",
        "stft(tf.range(16), 4, 2)",
        f"stft({M}, 2, 1)",
        f"stft({LONG}, 4, 2, window_fn=tf.signal.hamming_window)",
    ),
    "inverse_stft": (
        f"inverse_stft(tf.signal.stft({LONG}, 8, 4), 8, 4, window_fn=tf.signal.inverse_stft_window_fn(4))",
        f"inverse_stft(tf.signal.stft({LONG}, 6, 3), 6, 3)",
        f"inverse_stft(tf.signal.stft({LONG}, 8, 4), 12, 4, fft_length=8)",
        f"inverse_stft(tf.signal.stft({LONG}, 8, 3), 8, 3, window_fn=tf.signal.inverse_stft_window_fn(3))",
        "inverse_stft_window_fn(2)(6, tf.float32)",
        "inverse_stft_window_fn(4)(6, tf.float64)",
        f"inverse_stft({M}, 4, 2)",
        "inverse_stft_window_fn(3, tf.signal.hamming_window)(8, tf.float64)",
        f"inverse_stft(tf.signal.stft({LONG}, 4, 2), 4, 2, window_fn=None)",
    ),
    "window": (
        *(
            f"{f}({n}, dtype=tf.float64{more})"
            for f in ("hann_window", "hamming_window")
            for n in (0, 1, 2, 5, 6)
            for more in ("", ", periodic=False")
        ),
        *(
            f"{f}({n}, dtype=tf.float64)"
            for f in ("kaiser_window", "kaiser_bessel_derived_window", "vorbis_window")
            for n in (0, 1, 2, 5, 6)
        ),
        "kaiser_window(6, beta=3.0)",
        "kaiser_window(6, beta=tf.constant(3.0))",
        "kaiser_bessel_derived_window(8, 4.0)",
        "hann_window(-1)",
        "hann_window([3])",
        "hann_window(3, dtype=tf.int32)",
        "hann_window(4, dtype=tf.float32)",
        "hann_window(3.0)",
        "hann_window(tf.constant(4))",
        "vorbis_window(8)",
    ),
    "mdct": (
        f"mdct({LONG}, 8)",
        f"mdct({LONG}, 8, pad_end=True)",
        f"mdct({LONG}, 8, norm='ortho')",
        f"mdct({LONG}, 8, window_fn=None)",
        f"mdct({LONG}, 6)",
        f"mdct({LONG}, 8, norm='q')",
        f"inverse_mdct(tf.signal.mdct({LONG}, 8))",
        f"inverse_mdct(tf.signal.mdct({LONG}, 8, norm='ortho'), norm='ortho')",
        f"inverse_mdct(tf.signal.mdct({LONG}, 12), window_fn=None)",
        f"mdct(tf.stack([{LONG}, -{LONG}]), 12, tf.signal.kaiser_bessel_derived_window)",
    ),
    "mel": (
        "linear_to_mel_weight_matrix(3, 9)",
        "linear_to_mel_weight_matrix(3, 9, 8000, 20.0, 4000.0, dtype=tf.float64)",
        "linear_to_mel_weight_matrix()",
        "linear_to_mel_weight_matrix(0, 9)",
        "linear_to_mel_weight_matrix(3, 9, lower_edge_hertz=4000.0)",
        "linear_to_mel_weight_matrix(3, 9, upper_edge_hertz=5000.0)",
        "linear_to_mel_weight_matrix(3, 9, dtype=tf.int32)",
        "linear_to_mel_weight_matrix(3, 9, lower_edge_hertz=-4000.0)",
        "linear_to_mel_weight_matrix(3, 9, tf.constant(8000))",
        "linear_to_mel_weight_matrix(3, 9, -1)",
        "linear_to_mel_weight_matrix(3, 0)",
        f"mfccs_from_log_mel_spectrograms({M})",
        f"mfccs_from_log_mel_spectrograms({CUBE})",
        "mfccs_from_log_mel_spectrograms(tf.ones((2, 0)))",
    ),
}

_V = "[1.0, 2.0, -3.0, 4.0, 0.5, -1.0]"
_P = "[[1.0, 2.0, -3.0], [4.0, 0.5, -1.0]]"
_Q = "[[[1.0, 2.0, -3.0], [4.0, 0.5, -1.0]], [[0.3, 1.0, 2.0], [-1.5, 0.7, 0.2]]]"
_C = "tf.complex(x, 0.3 * x * x - 0.5)"
_GRADIENTS = {
    "fft": (
        f"lambda x: tf.abs(tf.signal.fft({_C})) @ {_V}",
        f"lambda x: tf.math.imag(tf.signal.ifft({_C}) ** 2) @ {_V}",
        f"lambda x: tf.abs(tf.signal.fft2d({_C})) @ {_P}",
        f"lambda x: tf.abs(tf.signal.ifft2d({_C})) @ {_Q}",
        f"lambda x: tf.math.imag(tf.signal.fft3d({_C}) ** 2) @ {_Q}",
        f"lambda x: tf.math.imag(tf.signal.ifft3d({_C}) ** 2) @ {_Q}",
    ),
    "rfft": (
        f"lambda x: tf.abs(tf.signal.rfft(x)) @ {_V}",
        f"lambda x: tf.abs(tf.signal.rfft(x, [9])) @ {_V}",
        f"lambda x: tf.abs(tf.signal.rfft2d(x)) @ {_P}",
        f"lambda x: tf.math.imag(tf.signal.rfft2d(x, [3, 4]) ** 2) @ {_Q}",
    ),
    "irfft": (
        f"lambda x: tf.signal.irfft({_C}) ** 2 @ {_V}",
        f"lambda x: tf.signal.irfft({_C}, [13]) ** 2 @ {_V}",
        f"lambda x: tf.signal.irfft2d({_C}) ** 2 @ {_P}",
        f"lambda x: tf.signal.irfft2d({_C}, [2, 5]) ** 2 @ {_Q}",
    ),
    "shift": (f"lambda x: tf.signal.fftshift(x) * [1., 2., 3., 4., 5., 6.] @ {_V}",),
    "dct": tuple(f"lambda x: tf.signal.dct(x, type={k}, n={n}) ** 2 @ {_V}" for k in (1, 2, 3, 4) for n in (6, 5))
    + tuple(f"lambda x: tf.signal.idct(x, type={k}, norm='ortho') ** 4 @ {_P}" for k in (2, 3, 4)),
    "frame": (
        f"lambda x: tf.signal.frame(x, 3, 2) ** 2 @ {_V}",
        f"lambda x: tf.signal.frame(x, 4, 3, pad_end=True, pad_value=1.) ** 3 @ {_V}",
        f"lambda x: tf.signal.frame(x, 1, 1, axis=0) ** 2 @ {_P}",
    ),
    "overlap_and_add": (
        f"lambda x: tf.signal.overlap_and_add(x, 2) ** 2 @ {_P}",
        f"lambda x: tf.signal.overlap_and_add(x, 4) ** 2 @ {_Q}",
    ),
    "stft": (
        f"lambda x: tf.abs(tf.signal.stft(x, 4, 1)) @ {_V}",
        f"lambda x: tf.signal.inverse_stft(tf.signal.stft(x, 4, 1) ** 2, 4, 1) @ {_V}",
    ),
    "mdct": (
        f"lambda x: tf.signal.mdct(x, 4) ** 2 @ {_V}",
        f"lambda x: tf.signal.inverse_mdct(tf.signal.mdct(x, 4) ** 2, norm='ortho') @ {_V}",
    ),
    "mfcc": (f"lambda x: tf.signal.mfccs_from_log_mel_spectrograms(x) ** 2 @ {_P}",),
    "kaiser": ("lambda b: tf.signal.kaiser_window(5, beta=b, dtype=tf.float64) @ 3.0",),
}

CASES = [
    (f"{name}-{i}", f"tf.signal.{source}") for name, sources in _VALUES.items() for i, source in enumerate(sources)
] + [
    (f"{name}-gradient-{i}", f"grad: {source}")
    for name, sources in _GRADIENTS.items()
    for i, source in enumerate(sources)
]
