"""Arrays from files that anyone may have written: .npz archives and safetensors.

Every size is checked before memory is used: a small file may decompress to gigabytes, and a header
may declare any shape. Readers raise ValueError for whatever is wrong; those that call them add the
name of the file.
"""

import io
import math
import struct
import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fourlab.parsing import parse_description

SPARE_BYTES = 64 << 20
"""Arrays may have this many bytes more than the file that holds them."""
MAX_SAFETENSORS_HEADER = 1 << 20
CHUNK = 1 << 16
"""Bytes that are compressed, decompressed or checked in one step."""

_DIRECTORY_END = struct.Struct("<4sHHHHIIH")
_DIRECTORY_ENTRY = struct.Struct("<4sHHHHHHIIIHHHHHII")
_LOCAL_HEADER = struct.Struct("<4sHHHHHIIIHH")
_NPY_HEADER_BYTES = 1 << 10
_STORED = 0
_DEFLATED = 8


def is_finite(numbers: np.ndarray) -> bool:
    """Return whether all numbers are finite, in steps that need little memory."""
    flat = numbers.reshape(-1)
    return all(
        bool(np.isfinite(flat[start : start + CHUNK]).all()) for start in range(0, len(flat), CHUNK)
    )


# --- npz ----------------------------------------------------------------------------------------


class Kind(NamedTuple):
    """What an array of a .npz file must be."""

    dtype: str
    """Such as <i8."""
    axes: int = 1


class _Member(NamedTuple):
    method: int
    checksum: int
    size: int
    """Its size after decompression, as the archive says."""
    packed: memoryview


def read_npz(data: bytes, kinds: Mapping[str, Kind]) -> dict[str, np.ndarray]:
    """Return the arrays of a .npz file, whose names and kinds must be exactly `kinds`.

    All arrays together have at most SPARE_BYTES more than the file.
    """
    members = _members(data, len(kinds))
    if members.keys() != {f"{name}.npy" for name in kinds}:
        raise ValueError(f"it must have the arrays {', '.join(sorted(kinds))} and no other")
    total = sum(member.size for member in members.values())
    if total > len(data) + SPARE_BYTES:
        raise ValueError(f"it claims {total:,} bytes, more than a file of its size may")
    return {name: _array(members[f"{name}.npy"], name, kind) for name, kind in kinds.items()}


def _members(data: bytes, count: int) -> dict[str, _Member]:
    """Read the directory of a ZIP archive of `count` members without any comment or ZIP64 part.

    Python's zipfile would read a directory of any length.
    """
    if len(data) < _DIRECTORY_END.size:
        raise ValueError("it is too short")
    end = len(data) - _DIRECTORY_END.size
    mark, disk, start_disk, here, entries, _, at, comment = _DIRECTORY_END.unpack_from(data, end)
    if mark != b"PK\5\6" or disk or start_disk or comment or not here == entries == count:
        raise ValueError(f"it is not a .npz file of {count} arrays")
    members: dict[str, _Member] = {}
    for _ in range(count):
        entry = _unpack(_DIRECTORY_ENTRY, data, at, b"PK\1\2")
        flags, method, checksum, packed_size, size = entry[3], entry[4], *entry[7:10]
        name_length, extra, remark, offset = *entry[10:13], entry[16]
        at += _DIRECTORY_ENTRY.size
        name = data[at : at + name_length].decode("ascii")
        at += name_length + extra + remark
        if name in members:
            raise ValueError(f"it has {name} twice")
        if flags & 1 or method not in (_STORED, _DEFLATED):
            raise ValueError(f"{name} is encrypted or compressed in another way")
        local = _unpack(_LOCAL_HEADER, data, offset, b"PK\3\4")
        start = offset + _LOCAL_HEADER.size + local[9] + local[10]
        packed = memoryview(data)[start : start + packed_size]
        if len(packed) != packed_size:
            raise ValueError(f"{name} ends too early")
        members[name] = _Member(method, checksum, size, packed)
    return members


def _unpack(form: struct.Struct, data: bytes, at: int, mark: bytes) -> tuple[Any, ...]:
    if at + form.size > len(data):
        raise ValueError("its directory is damaged")
    numbers = form.unpack_from(data, at)
    if numbers[0] != mark:
        raise ValueError("its directory is damaged")
    return numbers


class _Stream:
    """The contents of a member, decompressed as far as they are wanted."""

    def __init__(self, member: _Member) -> None:
        self._packed = member.packed
        self._at = 0
        self._inflater = zlib.decompressobj(-15) if member.method == _DEFLATED else None
        self.checksum = 0

    def some(self, most: int) -> bytes | memoryview:
        """Return up to `most` bytes; none at the end."""
        if self._inflater is None:
            piece: bytes | memoryview = self._take(most)
        else:
            piece = b""
            while not piece and not self._inflater.eof:
                packed = self._inflater.unconsumed_tail or self._take(CHUNK)
                if not packed:
                    break
                piece = self._inflater.decompress(packed, most)
        self.checksum = zlib.crc32(piece, self.checksum)
        return piece

    def _take(self, most: int) -> memoryview:
        piece = self._packed[self._at : self._at + most]
        self._at += len(piece)
        return piece

    def fill(self, target: memoryview) -> None:
        """Write the next bytes to `target`, all of it."""
        done = 0
        while done < len(target):
            piece = self.some(min(CHUNK, len(target) - done))
            if not piece:
                raise ValueError("it ends too early")
            target[done : done + len(piece)] = piece
            done += len(piece)


def _array(member: _Member, name: str, kind: Kind) -> np.ndarray:
    stream = _Stream(member)
    # A header of version 1: six bytes that say "NumPy", two of the version, two of the length.
    head = bytearray(10)
    stream.fill(memoryview(head))
    length = int.from_bytes(head[8:], "little")
    if head[:8] != b"\x93NUMPY\1\0" or length > _NPY_HEADER_BYTES:
        raise ValueError(f"{name} is not an array")
    text = bytearray(length)
    stream.fill(memoryview(text))
    try:
        header = io.BytesIO(bytes(head[8:] + text))
        shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(header)
    except Exception as error:  # NumPy evaluates the header as a literal, which can fail anywhere
        raise ValueError(f"{name} is not an array: {type(error).__name__}") from None
    fits = dtype == np.dtype(kind.dtype) and len(shape) == kind.axes and not fortran_order
    if not fits or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError(f"{name} is {dtype}{list(shape)}")
    if len(head) + length + math.prod(shape) * dtype.itemsize != member.size:
        raise ValueError(f"{name} has another size than it says")
    array = np.empty(shape, dtype)
    stream.fill(array.reshape(-1).view(np.uint8).data)
    if stream.some(1) or stream.checksum != member.checksum:
        raise ValueError(f"{name} is damaged")
    return array.astype(dtype.newbyteorder("="), copy=False)


# --- safetensors --------------------------------------------------------------------------------

_ITEM_BYTES = {
    **dict.fromkeys(("F64", "I64", "U64"), 8),
    **dict.fromkeys(("F32", "I32", "U32"), 4),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 2),
    **dict.fromkeys(("I8", "U8", "BOOL"), 1),
}


class TensorHead(NamedTuple):
    """An array of a safetensors file, as its header describes it."""

    dtype: str
    """Such as F32."""
    shape: tuple[int, ...]
    begin: int
    """Its first byte, counted from the first byte of the first array."""
    end: int


def safetensors_heads(start: bytes, file_bytes: int) -> dict[str, TensorHead]:
    """Check the header of a safetensors file, and return what it says about every array.

    `start` is the file or its first 8 + MAX_SAFETENSORS_HEADER bytes. The file consists of the
    header's length (8 bytes), the header (JSON) and the arrays without a gap between them.
    """
    length = int.from_bytes(start[:8], "little")
    if len(start) < 8 or length > min(MAX_SAFETENSORS_HEADER, len(start) - 8):
        raise ValueError("it is not a safetensors file")
    header = parse_description(bytes(start[8 : 8 + length]), MAX_SAFETENSORS_HEADER)
    header.pop("__metadata__", None)
    heads = {name: _tensor_head(name, about) for name, about in header.items()}
    at = 0
    for name, head in sorted(heads.items(), key=lambda item: item[1][2:]):
        if head.begin != at:
            raise ValueError(f"{name!r} overlaps another array, or follows a gap")
        at = head.end
    if 8 + length + at != file_bytes:
        raise ValueError("its size is not the one that its header says")
    return heads


def _tensor_head(name: str, about: Any) -> TensorHead:
    try:
        dtype, shape, (begin, end) = about["dtype"], about["shape"], about["data_offsets"]
        sizes = [*shape, begin, end]
        is_valid = all(type(size) is int and 0 <= size < 1 << 48 for size in sizes)
        # A shape of many axes would make the product a number of many digits.
        is_valid = is_valid and len(shape) <= 8
        if not is_valid or end - begin != _ITEM_BYTES[dtype] * math.prod(shape):
            raise ValueError
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"{name!r} has another size than it says, or no valid dtype") from None
    return TensorHead(dtype, tuple(shape), begin, end)
