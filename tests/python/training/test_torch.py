"""starmine.torch: bits unpacked into tensors, and rollouts of packed observations."""

import sys

import numpy as np
import pytest
import torch
from hostile_arrays import misaligned, read_only

import starmine
from starmine._core import unpack_bits_into
from starmine.torch import unpack_bits
from starmine.torch.unpack import _with_torch

DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.uint8]
LENGTHS = [1, 7, 8, 20, 48, 63, 64, 65, 658, 1280]
RNG = np.random.default_rng(0)


def packed_length(num_features):
    return 8 * -(-num_features // 64)


def packed(*shape, num_features=658):
    return RNG.integers(0, 256, (*shape, packed_length(num_features)), np.uint8)


def expected(bits, num_features, dtype=torch.float32):
    """What numpy makes of bits."""
    features = np.unpackbits(bits, axis=-1, bitorder="little")[..., :num_features]
    return torch.from_numpy(features).to(dtype)


def assert_same(found, wanted):
    assert found.dtype == wanted.dtype
    assert found.is_contiguous()
    assert torch.equal(found, wanted)


# --- unpack_bits ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("num_features", LENGTHS)
def test_elements_are_numpys(dtype, num_features):
    bits = packed(5, num_features=num_features)
    wanted = expected(bits, num_features, dtype)
    assert_same(unpack_bits(bits, num_features, dtype), wanted)
    assert_same(unpack_bits(torch.from_numpy(bits), num_features, dtype), wanted)
    out = torch.full((5, num_features), 9, dtype=dtype)
    assert unpack_bits(bits, num_features, dtype, out) is out
    assert_same(out, wanted)
    assert_same(_with_torch(torch.from_numpy(bits), num_features, dtype), wanted)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0), (2, 3), (2, 3, 4)], ids=str)
def test_leading_axes_stay(shape):
    bits = packed(*shape)
    wanted = expected(bits, 658)
    assert wanted.shape == (*shape, 658)
    assert_same(unpack_bits(bits, 658), wanted)
    assert_same(unpack_bits(bits, 658, out=torch.empty(*shape, 658)), wanted)
    assert_same(_with_torch(torch.from_numpy(bits), 658, torch.float32), wanted)


def test_the_dtype_is_float32_or_that_of_out():
    bits = packed(2)
    assert unpack_bits(bits, 658).dtype == torch.float32
    out = torch.empty(2, 658, dtype=torch.bfloat16)
    assert_same(unpack_bits(bits, 658, out=out), expected(bits, 658, torch.bfloat16))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_many_rows_are_unpacked_by_several_threads(dtype):
    bits = packed(20_000)
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        assert_same(unpack_bits(bits, 658, dtype), expected(bits, 658, dtype))
    finally:
        torch.set_num_threads(threads)


def test_bits_of_any_strides_are_read():
    bits = packed(4, 6)
    for view in (bits[::2], bits[:, ::-1], bits.transpose(1, 0, 2), bits[1], read_only(bits.copy())):
        assert_same(unpack_bits(view, 658), expected(view, 658))
    tensor = torch.from_numpy(bits)
    for view in (tensor[::2], tensor[:, 1:], tensor.transpose(0, 1), tensor[:1].expand(3, 6, 88)):
        assert_same(unpack_bits(view, 658), expected(view.numpy(), 658))
    unaligned = np.zeros(2 * 88 + 1, np.uint8)[1:].reshape(2, 88)
    unaligned[:] = bits[0, :2]
    assert_same(unpack_bits(unaligned, 658), expected(unaligned, 658))


def test_subclasses_of_arrays_are_read():
    bits = packed(3)
    assert_same(unpack_bits(bits.view(np.recarray), 658), expected(bits, 658))


def test_new_elements_are_on_the_device_of_the_bits():
    bits = packed(3)
    with torch.device("meta"):
        assert unpack_bits(bits, 658).device.type == "cpu"


def test_a_backward_pass_does_not_take_new_elements_for_old_ones():
    out, weight = torch.empty(3, 658), torch.ones(658, requires_grad=True)
    loss = (unpack_bits(packed(3), 658, out=out) * weight).sum()
    unpack_bits(packed(3), 658, out=out)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_elements_are_unpacked_in_inference_mode():
    bits = packed(3)
    with torch.inference_mode():
        assert_same(unpack_bits(bits, 658), expected(bits, 658))
        out = torch.empty(3, 658)
        assert_same(unpack_bits(bits, 658, out=out), expected(bits, 658))


def test_nothing_beside_out_is_written():
    memory = torch.full((4, 658), 9.0)
    unpack_bits(packed(2), 658, out=memory[1:3])
    assert (memory[[0, 3]] == 9).all()


def test_the_observations_of_an_environment():
    games = {"num_envs": 8, "players": 3, "seed": 5, "observers": "all"}
    envs = [starmine.HanabiVectorEnv(**games, dtype=dtype) for dtype in ("bits", "float32")]
    bits, floats = (env.reset()[0] for env in envs)
    assert_same(unpack_bits(bits, len(envs[0].layout)), torch.from_numpy(floats))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bits": packed(2).tolist()}, "bits is a .*list.*: expected a tensor or a numpy array"),
        ({"bits": packed(2).astype(np.int8)}, "bits has dtype int8: expected uint8"),
        ({"bits": torch.zeros(2, 88)}, r"bits has dtype torch.float32: expected uint8"),
        ({"bits": torch.zeros(2, 88, dtype=torch.uint8).to_sparse()}, "bits has layout torch.sparse_coo"),
        ({"bits": packed(2)[:, :83]}, r"bits has shape \(2, 83\): expected rows of 88 bytes for 658 features"),
        ({"bits": np.array(3, np.uint8)}, r"bits has shape \(\): expected rows of 88 bytes"),
        ({"num_features": 640}, r"bits has shape \(2, 88\): expected rows of 80 bytes for 640 features"),
        ({"dtype": torch.float64}, "dtype=torch.float64 is not allowed: expected one of torch.float32"),
        ({"dtype": "float32"}, "dtype=float32 is not allowed"),
        ({"out": np.empty((2, 658), np.float32)}, "out is a .*ndarray.*: expected a tensor"),
        ({"out": torch.empty(2, 658), "dtype": torch.uint8}, "out has dtype torch.float32: expected torch.uint8"),
        ({"out": torch.empty(2, 658, dtype=torch.int32)}, "dtype=torch.int32 is not allowed"),
        ({"out": torch.empty(2, 658, device="meta")}, "out is on meta: expected cpu, where bits is"),
        ({"out": torch.empty(3, 658)}, r"out has shape \(3, 658\): expected \(2, 658\)"),
        ({"out": torch.empty(1, 2, 658)}, r"out has shape \(1, 2, 658\): expected \(2, 658\)"),
        ({"out": torch.empty(658, 2).t()}, "out is not contiguous"),
        ({"out": torch.empty(2, 658, requires_grad=True)}, "out requires gradients"),
        ({"out": torch.from_numpy(misaligned((2, 658), np.float32))}, "out is not aligned"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    with pytest.raises(starmine.ArrayError, match=message):
        unpack_bits(**({"bits": packed(2), "num_features": 658} | change))


@pytest.mark.parametrize("num_features", [0, -1])
def test_features_are_needed(num_features):
    with pytest.raises(starmine.StarmineError, match=f"num_features={num_features} is not allowed"):
        unpack_bits(packed(2), num_features)


def test_shared_memory_is_refused():
    memory = torch.zeros(2 * 88 + 2 * 658, dtype=torch.uint8)
    bits = memory[: 2 * 88].view(2, 88)
    for start in (0, 2 * 88 - 1):
        out = memory[start : start + 2 * 658].view(2, 658)
        for given in (bits, bits.numpy(), bits.numpy()[::-1], memory[: 4 * 88].view(4, 88)[::2]):
            with pytest.raises(starmine.ArrayError, match="out overlaps bits"):
                unpack_bits(given, 658, out=out)
    unpack_bits(bits, 658, out=memory[2 * 88 :].view(2, 658))


def test_other_devices_use_torch():
    found = unpack_bits(torch.empty(2, 88, dtype=torch.uint8, device="meta"), 658, torch.float16)
    assert (found.device.type, found.shape, found.dtype) == ("meta", (2, 658), torch.float16)
    out = torch.empty(2, 658, device="meta")
    assert unpack_bits(torch.empty(2, 88, dtype=torch.uint8, device="meta"), 658, out=out) is out


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_it_compiles_without_a_break(dtype):
    torch.compiler.reset()
    compiled = torch.compile(unpack_bits, backend="eager", fullgraph=True)
    for rows in (3, 4):
        bits = packed(rows)
        assert_same(compiled(torch.from_numpy(bits), 658, dtype), expected(bits, 658, dtype))
    out = torch.empty(4, 658, dtype=dtype)
    compiled(torch.from_numpy(bits), 658, dtype, out)
    assert_same(out, expected(bits, 658, dtype))


def test_an_exported_program_unpacks_what_it_is_given():
    class Module(torch.nn.Module):
        def forward(self, bits):
            return unpack_bits(bits, 658)

    program = torch.export.export(Module(), (torch.zeros(2, 88, dtype=torch.uint8),)).module()
    bits = packed(2)
    assert_same(program(torch.from_numpy(bits)), expected(bits, 658))


# --- the core's function ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.uint8])
def test_the_core_unpacks(dtype):
    bits = packed(3, num_features=20)
    out = np.full((3, 20), 9, dtype)
    unpack_bits_into(bits, out, num_threads=2)
    assert (out == expected(bits, 20).numpy()).all()


def test_the_core_writes_bfloat16_as_uint16():
    bits, out = packed(3), np.empty((3, 658), np.uint16)
    unpack_bits_into(bits, out)
    assert torch.equal(torch.from_numpy(out.view(np.int16)).view(torch.bfloat16), expected(bits, 658, torch.bfloat16))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bits": packed(2).tolist()}, "bits is a .*list.*: expected a numpy array"),
        ({"bits": packed(2).view(np.int8)}, "bits has dtype int8: expected uint8"),
        ({"bits": np.array(3, np.uint8)}, r"bits has shape \[\]: expected rows of bytes"),
        ({"bits": packed(4)[::2]}, "bits is not contiguous"),
        ({"bits": packed(2)[:, :80].copy()}, "bits has rows of 80 bytes: expected 88 for 658 features"),
        ({"bits": packed(3)}, r"out has shape \[2, 658\]: expected \[3, 658\]"),
        ({"out": [[0.0] * 658] * 2}, "out is a .*list.*: expected a numpy array"),
        ({"bits": packed()}, r"out has shape \[2, 658\]: expected \[658\]"),
        ({"out": np.array(3, np.float32)}, r"out has shape \[\]: expected rows of elements"),
        ({"out": np.empty(658, np.float32)}, r"out has shape \[658\]: expected \[2, 658\]"),
        ({"out": np.empty((2, 658))}, "out has dtype float64: expected float32, float16, uint16 or uint8"),
        ({"out": np.empty((2, 658), ">f4")}, "out has dtype >f4: expected float32"),
        ({"out": np.empty((658, 2), np.float32).T}, "out is not contiguous"),
        ({"out": read_only(np.empty((2, 658), np.float32))}, "out is read-only"),
        ({"out": misaligned((2, 658), np.float32)}, "out is not aligned"),
        ({"num_threads": 0}, "num_threads=0 is not allowed: expected 1 to 1024"),
        ({"num_threads": 2**70}, f"num_threads={2**70} is not allowed"),
    ],
)
def test_the_core_refuses_what_does_not_fit(change, message):
    given = {"bits": packed(2), "out": np.empty((2, 658), np.float32)} | change
    before = np.array(given["out"])
    with pytest.raises(starmine.StarmineError, match=message):
        unpack_bits_into(**given)
    assert np.array_equal(np.array(given["out"]), before, equal_nan=True)


def test_the_core_takes_the_instruction_set_that_is_named(monkeypatch):
    bits, out = packed(3), np.empty((3, 658), np.float32)
    monkeypatch.setenv("STARMINE_SIMD", "portable")
    unpack_bits_into(bits, out)
    assert (out == expected(bits, 658).numpy()).all()
    monkeypatch.setenv("STARMINE_SIMD", "abacus")
    with pytest.raises(starmine.StarmineError, match='STARMINE_SIMD="abacus" is not possible'):
        unpack_bits_into(bits, out)


def test_the_core_refuses_shared_memory():
    memory = np.zeros(2 * 88 + 2 * 658, np.uint8)
    bits = memory[: 2 * 88].reshape(2, 88)
    out = np.frombuffer(memory, np.uint8)[2 * 88 - 1 : -1].reshape(2, 658)
    with pytest.raises(starmine.ArrayError, match="overlaps"):
        unpack_bits_into(bits, out)
    unpack_bits_into(bits, memory[2 * 88 :].reshape(2, 658))


def test_a_missing_torch_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "starmine.torch")
    with pytest.raises(ImportError, match=r"pip install 'starmine\[torch\]'"):
        import starmine.torch  # noqa: F401
