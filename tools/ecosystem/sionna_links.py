"""sionna-no-rt: QAM, LDPC and polar codes, OFDM, MIMO detection, a trained constellation."""

import numpy as np
import sionna.phy as phy
import tensorflow as tf
from sionna.phy.channel import AWGN, FlatFadingChannel
from sionna.phy.fec.ldpc import LDPC5GDecoder, LDPC5GEncoder
from sionna.phy.fec.polar import Polar5GDecoder, Polar5GEncoder
from sionna.phy.mapping import Constellation, Demapper, Mapper
from sionna.phy.mimo import lmmse_equalizer
from sionna.phy.ofdm import LMMSEEqualizer, LSChannelEstimator, ResourceGrid, ResourceGridMapper


def bits_of(count, seed):
    return tf.constant(np.random.RandomState(seed).randint(0, 2, size=count), tf.float32)


def noise_of(shape, seed):
    drawn = np.random.RandomState(seed)
    return tf.constant((drawn.normal(size=shape) + 1j * drawn.normal(size=shape)) / np.sqrt(2.0), tf.complex64)


def parts(x):
    return tf.stack([tf.math.real(x), tf.math.imag(x)], -1)


def numbers():
    found = {}
    phy.config.seed = 42
    bits = bits_of((4, 64), 0)
    symbols = Mapper("qam", 4)(bits)
    found["symbols"] = parts(symbols)[0]
    received = symbols + 0.3 * noise_of(symbols.shape, 1)
    for method in ("app", "maxlog"):
        found[f"llr {method}"] = Demapper(method, "qam", 4)(received, tf.constant(0.09))[0]

    @tf.function
    def link(bits, noise):
        return Demapper("app", "qam", 4)(Mapper("qam", 4)(bits) + noise, tf.constant(0.09))

    found["llr in a function"] = link(bits, 0.3 * noise_of(symbols.shape, 1))[0]

    encoder = LDPC5GEncoder(50, 100)
    code = encoder(bits_of((3, 50), 2))
    llr = 2.0 * (2.0 * code - 1.0) + tf.math.real(noise_of(code.shape, 3))
    found["ldpc code"] = code
    found["ldpc soft"] = LDPC5GDecoder(encoder, num_iter=5, hard_out=False, return_infobits=True)(llr)
    encoder = Polar5GEncoder(30, 64)
    code = encoder(bits_of((3, 30), 4))
    found["polar code"] = code
    llr = 4.0 * (2.0 * code - 1.0) + tf.math.real(noise_of(code.shape, 5))
    found["polar"] = Polar5GDecoder(encoder, dec_type="SC")(llr)

    h, noise = noise_of((2, 4, 2), 6), noise_of((2, 4), 7)
    sent = noise_of((2, 2), 8)
    y = tf.linalg.matvec(h, sent) + 0.1 * noise
    equalized, variance = lmmse_equalizer(y, h, 0.01 * tf.eye(4, dtype=tf.complex64))
    found["lmmse"], found["lmmse variance"] = parts(equalized), variance

    grid = ResourceGrid(
        num_ofdm_symbols=6, fft_size=16, subcarrier_spacing=15e3, num_tx=1, num_streams_per_tx=1,
        pilot_pattern="kronecker", pilot_ofdm_symbol_indices=[1, 4],
    )  # fmt: skip
    data = Mapper("qam", 2)(bits_of((2, 1, 1, int(grid.num_data_symbols) * 2), 9))
    x = ResourceGridMapper(grid)(data)
    gain = noise_of((2, 1, 2, 1, 1, 1, 1), 10)
    y = gain[:, :, :, 0, 0] * x[:, :, 0][:, :, None]
    y += 0.05 * noise_of(y.shape, 11)
    estimate, error = LSChannelEstimator(grid, interpolation_type="nn")(y, tf.constant(0.0025))
    found["channel"], found["channel error"] = parts(estimate)[0, 0, :, 0, 0, 0], tf.reduce_mean(error)
    management = phy.mimo.StreamManagement(np.array([[1]]), 1)
    detected, _ = LMMSEEqualizer(grid, management)(y, estimate, error, tf.constant(0.0025))
    found["detected"] = parts(detected)[:, 0, 0, :8]

    found["awgn power"] = tf.shape(AWGN()(symbols, tf.constant(0.1)))
    found["fading"] = tf.shape(FlatFadingChannel(2, 4)(sent, tf.constant(0.1)))

    constellation = Constellation("custom", 4, points=Constellation("qam", 4).points)
    points = tf.Variable(parts(constellation.points))
    optimizer = tf.keras.optimizers.Adam(0.05)
    losses = []
    for step in range(8):
        b, n = bits_of((64, 4), 20 + step), noise_of((64, 1), 40 + step)
        with tf.GradientTape() as tape:
            c = Constellation("custom", 4, points=tf.complex(points[:, 0], points[:, 1]), normalize=True)
            y = Mapper(constellation=c)(b) + 0.4 * n
            llr = Demapper("app", constellation=c)(y, tf.constant(0.16))
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(b, llr))
        optimizer.apply_gradients([(tape.gradient(loss, points), points)])
        losses.append(loss)
    found["training"] = tf.stack(losses)
    return found
