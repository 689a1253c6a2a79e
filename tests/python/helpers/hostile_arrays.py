"""Arrays that must be refused as buffers."""

import numpy as np


def read_only(array):
    """The same array, no longer writable."""
    array.flags.writeable = False
    return array


def misaligned(shape, dtype):
    """A contiguous array that starts one byte after an aligned address."""
    memory = np.zeros(int(np.prod(shape)) * np.dtype(dtype).itemsize + 1, np.uint8)
    return memory[1:].view(dtype).reshape(shape)
