"""Philox 4x32-10 for PyTorch's tensors: see `ops/random/philox.py`. Words are int64 numbers below 2**32."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch  # type: ignore[import-not-found,unused-ignore]

_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_WEYL = 0x9E3779B9, 0xBB67AE85
_MASK = 0xFFFFFFFF
_TOP = -(1 << 63)  # flips the order of signed numbers to that of unsigned ones
_CUDA = """
template <typename T> void philox(T block, T s0, T s1, T s2, T& y0, T& y1, T& y2, T& y3) {
  const unsigned long long low = (unsigned long long)s0 + (unsigned long long)block;
  const unsigned long long high = (unsigned long long)s1 + (low < (unsigned long long)block ? 1ull : 0ull);
  unsigned int c0 = (unsigned int)low, c1 = (unsigned int)(low >> 32);
  unsigned int c2 = (unsigned int)high, c3 = (unsigned int)(high >> 32);
  unsigned int k0 = (unsigned int)(unsigned long long)s2, k1 = (unsigned int)((unsigned long long)s2 >> 32);
  for (int i = 0; i < 10; i++) {
    const unsigned long long p0 = (unsigned long long)c0 * 0xD2511F53ull, p1 = (unsigned long long)c2 * 0xCD9E8D57ull;
    c0 = (unsigned int)(p1 >> 32) ^ c1 ^ k0; c1 = (unsigned int)p1;
    c2 = (unsigned int)(p0 >> 32) ^ c3 ^ k1; c3 = (unsigned int)p0;
    k0 += 0x9E3779B9u; k1 += 0xBB67AE85u;
  }
  y0 = (T)c0; y1 = (T)c1; y2 = (T)c2; y3 = (T)c3;
}
"""


@cache
def _launch() -> Any:
    """Returns the kernel that mixes all blocks in one launch."""
    from torch.cuda import jiterator  # type: ignore[import-not-found,unused-ignore]

    return jiterator._create_multi_output_jit_fn(_CUDA, num_outputs=4)


def philox_words(state: Any, blocks: Any) -> Any:
    """Returns the four words of each block: int64, of shape `(*blocks.shape, 4)`. The state is three int64 numbers."""
    if blocks.is_cuda:
        return torch.stack(_launch()(blocks, state[0], state[1], state[2]), -1)
    low = state[0] + blocks
    high = state[1] + ((low ^ _TOP) < (blocks ^ _TOP)).to(torch.int64)
    c0, c1, c2, c3 = low & _MASK, (low >> 32) & _MASK, high & _MASK, (high >> 32) & _MASK
    k0, k1 = state[2] & _MASK, (state[2] >> 32) & _MASK
    for _ in range(10):
        p0, p1 = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        high0, high1 = (p0 >> 32) & _MASK, (p1 >> 32) & _MASK
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, p1 & _MASK, high0 ^ c3 ^ k1, p0 & _MASK
        k0, k1 = (k0 + _WEYL[0]) & _MASK, (k1 + _WEYL[1]) & _MASK
    return torch.stack([c0, c1, c2, c3], -1)
