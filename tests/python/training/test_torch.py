"""starmine.torch: bits unpacked into tensors, and rollouts of packed observations."""

import numpy as np
import pytest
import torch

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


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_bits_of_another_dtype_are_refused(device):
    with pytest.raises(starmine.ArrayError):
        unpack_bits(torch.zeros(4, 88, dtype=torch.int32, device=device), 658)


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
    read_only = bits.copy()
    read_only.flags.writeable = False
    for view in (bits[::2], bits[:, ::-1], bits.transpose(1, 0, 2), bits[1], read_only):
        assert_same(unpack_bits(view, 658), expected(view, 658))
    tensor = torch.from_numpy(bits)
    for view in (tensor[::2], tensor[:, 1:], tensor.transpose(0, 1), tensor[:1].expand(3, 6, 88)):
        assert_same(unpack_bits(view, 658), expected(view.numpy(), 658))
    unaligned = np.zeros(2 * 88 + 1, np.uint8)[1:].reshape(2, 88)
    unaligned[:] = bits[0, :2]
    assert_same(unpack_bits(unaligned, 658), expected(unaligned, 658))


def test_a_backward_pass_does_not_take_new_elements_for_old_ones():
    out, weight = torch.empty(3, 658), torch.ones(658, requires_grad=True)
    loss = (unpack_bits(packed(3), 658, out=out) * weight).sum()
    unpack_bits(packed(3), 658, out=out)
    with pytest.raises(RuntimeError):
        loss.backward()


def test_elements_are_unpacked_in_inference_mode():
    bits = packed(3)
    with torch.inference_mode():
        assert_same(unpack_bits(bits, 658), expected(bits, 658))
        out = torch.empty(3, 658)
        assert_same(unpack_bits(bits, 658, out=out), expected(bits, 658))


def test_the_observations_of_an_environment():
    games = {"num_envs": 8, "players": 3, "seed": 5, "observers": "all"}
    envs = [starmine.HanabiVectorEnv(**games, dtype=dtype) for dtype in ("bits", "float32")]
    bits, floats = (env.reset()[0] for env in envs)
    assert_same(unpack_bits(bits, len(envs[0].layout)), torch.from_numpy(floats))


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


def test_the_core_takes_the_instruction_set_that_is_named(monkeypatch):
    bits, out = packed(3), np.empty((3, 658), np.float32)
    monkeypatch.setenv("STARMINE_SIMD", "portable")
    unpack_bits_into(bits, out)
    assert (out == expected(bits, 658).numpy()).all()
    monkeypatch.setenv("STARMINE_SIMD", "abacus")
    with pytest.raises(starmine.StarmineError):
        unpack_bits_into(bits, out)
