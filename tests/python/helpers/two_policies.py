"""Two policy files of one network, of which one plays well and the other badly."""

import json
import struct

import starmine


def reversed_weights(data):
    """A policy file whose moves are the worst ones of another: the signs of its heads are changed."""
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    found = bytearray(data)
    for name in ("heads.weight", "heads.bias", "color_heads.weight", "color_heads.bias"):
        if name in header:
            start, end = (8 + length + offset for offset in header[name]["data_offsets"])
            size = {"F32": 4, "F16": 2, "BF16": 2}[header[name]["dtype"]]
            found[start + size - 1 : end : size] = bytes(byte ^ 0x80 for byte in found[start + size - 1 : end : size])
    return bytes(found)


GOOD = starmine.load_policy("ippo-mini").data
BAD = reversed_weights(GOOD)
RULES = starmine.load_policy("ippo-mini").variant
