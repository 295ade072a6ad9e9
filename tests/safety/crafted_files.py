"""Books, data sets, tables and weights made to do harm: every one must be refused."""

import gzip
import io
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from fourlab.agents.q import table_kernel
from tests.safety.good_files import (
    TOWER,
    Files,
    book,
    book_file,
    data_file,
    data_set,
    description_of,
    npz,
    q_file,
)

LARGE = 16_000_000
"""Numbers of a bomb: 128 MB of int64, which compress to an eighth of a megabyte."""
DEEP = b'{"x": ' + b"[" * 900 + b"]" * 900 + b"}"
VERY_DEEP = b"[" * 100_000


def crafted_files(good: Files) -> Iterator[tuple[str, bytes]]:
    """Yield the kind and suffix, such as book.npz, and the contents of files."""
    for name, data in good.items():
        if name.endswith(".json"):
            continue
        kind, _, suffix = name.partition("-good")
        # A text without its last line break is as good.
        for cut in (len(data), len(data) // 2, 20, 2 if suffix == ".data" else 1):
            yield kind + suffix.lstrip("8"), data[: len(data) - cut]
        yield kind + suffix.lstrip("8"), bytes(1000)
    for data in _books():
        yield "book.npz", data
    for data in _data_sets():
        yield "data.npz", data
    for suffix, data in _texts():
        yield f"data{suffix}", data
    for data in _tables(good["table-good.q"]):
        yield "table.q", data
    for data in _text_tables():
        yield "text.gz", data
    for data in _tensors(good["weights-good.safetensors"]):
        yield "weights.safetensors", data
        yield "kaggle.safetensors", data
        yield "state.safetensors", data


def crafted_descriptions() -> Iterator[bytes]:
    """Yield JSON files for weights that are good themselves."""
    yield from (b"", b"[]", b"null", b"{}", b"\xff", DEEP, VERY_DEEP, b'{"network": 7}')
    yield b'{"network": {}, "sha256": 7}'
    yield b" " * (1 << 19)
    network = json.loads(TOWER.write())
    for changes in (
        {"body": ["conv 5", "batchnorm", "relu", "residual 5"]},
        {"body": ["conv 4000", "residual 4000"]},
        {"body": ["dense 99999"] * 20},
        {"board": "5x4x4"},
        {"about": {"x": 1 << 70}, "body": []},
    ):
        yield description_of(b"", json.dumps({**network, **changes}).encode())


# --- .npz ---------------------------------------------------------------------------------------


def _books() -> Iterator[bytes]:
    keys, scores = book().keys, book().scores
    yield book_file(keys[::-1].copy(), scores)
    yield book_file(np.repeat(keys, 2), np.repeat(scores, 2))
    yield book_file(keys * 2, scores)
    yield book_file(keys - keys[0], scores)
    yield book_file(keys + (1 << 40), scores)
    for score in (-128, -7, 7, 127):
        yield book_file(keys, np.full_like(scores, score))
    yield book_file(keys, scores[:-1])
    for claims in (
        *({"format": 2}, {"format": None}, {"entries": len(keys) + 1}, {"entries": -1}),
        *({"plies": -1}, {"plies": 2}, {"plies": "x"}, {"plies": None}, {"plies": 1e400}),
        *({"board": "7x6x4"}, {"board": "99x99x4"}, {"board": 7}, {"board": "x" * 10_000}),
        *({"sha256": "0"}, {"sha256": None}, {"another": [[[]] * 100] * 20_000}),
    ):
        yield book_file(keys, scores, **claims)
    parts = {"differences": np.diff(keys, prepend=0), "scores": scores}
    for about in (b"", b"[]", b"null", b"\xff", DEEP, VERY_DEEP, b"9" * 5000):
        yield npz(**parts, about=np.frombuffer(about, np.uint8))
    about_array = np.frombuffer(b"{}", np.uint8)
    yield npz(**{**parts, "differences": np.zeros(LARGE, np.int64)}, about=about_array)
    yield npz(**{**parts, "scores": np.zeros(8 * LARGE, np.int8)}, about=about_array)
    yield npz(**parts, about=np.full(8 * LARGE, ord(" "), np.uint8))
    yield from _archives({**parts, "about": about_array}, "differences")


def _data_sets() -> Iterator[bytes]:
    keys, columns = data_set().keys, data_set().columns
    assert columns is not None
    yield data_file(keys * 2, columns)
    yield data_file(keys + (1 << 40), columns)
    for score in (-128, -7, 7, 127):
        yield data_file(keys, np.full_like(columns, score))
    yield data_file(keys[:-1], columns)
    yield data_file(keys, columns[:, :2])
    for claims in ({"format": 2}, {"positions": 10**9}, {"board": "7x6x4"}, {"board": None}):
        yield data_file(keys, columns, **claims)
    parts = {"keys": keys, "scores": columns.max(axis=1), "columns": columns}
    about = np.frombuffer(b"{}", np.uint8)
    yield npz(**{**parts, "keys": np.zeros(LARGE, np.int64)}, about=about)
    yield npz(**{**parts, "columns": np.zeros((8 * LARGE, 1), np.int8)}, about=about)
    yield npz(**{**parts, "columns": np.zeros((1, 0), np.int8)}, about=about)
    yield from _archives({**parts, "about": about}, "keys")


def _archives(parts: dict[str, np.ndarray], name: str) -> Iterator[bytes]:
    """Yield archives with wrong arrays under `name`, and with a wrong directory."""
    good = parts[name]
    for array in (
        good.astype(np.int32),
        good.astype(">i8"),
        good.astype(np.float64),
        good.reshape(-1, 1),
        np.array(7),
        np.array([{"x": 1}], object),
        np.zeros(len(good), [("a", "<i8")]),
    ):
        yield npz(**{**parts, name: array})
    yield npz(**{key: array for key, array in parts.items() if key != name})
    yield npz(**parts, another=good)
    for shape in ("(-1,)", "(1099511627776,)", "(0,)", f"({'9' * 500},)", "(True,)", "([],)", "()"):
        yield _archive(parts, name, shape)
    for header in ("{}", "[" * 1000, "x" * 60_000, "{'descr': '|O', 'shape': (1,)}"):
        yield _archive(parts, name, "(1,)", header)
    whole = npz(**parts)
    end = len(whole) - 22
    yield whole + b"more"
    yield whole[:-2] + struct.pack("<H", 4) + b"more"
    # The end of the directory: counts, size and place.
    for place, number in ((8, 0), (8, 65535), (10, 65535), (16, 0), (16, 1 << 31), (16, end)):
        changed = bytearray(whole)
        struct.pack_into("<H" if place < 12 else "<I", changed, end + place, number)
        yield bytes(changed)
    # The first entry: flags, method, checksum, sizes, length of the name, place.
    first = whole.index(b"PK\1\2")
    for place, number in ((8, 1), (10, 12), (10, 0), (28, 0), (28, 65535)):
        changed = bytearray(whole)
        struct.pack_into("<H", changed, first + place, number)
        yield bytes(changed)
    for place, number in ((16, 7), (20, 0xFFFFFFFF), (24, 0xFFFFFFFF), (24, 1), (42, 1 << 31)):
        changed = bytearray(whole)
        struct.pack_into("<I", changed, first + place, number)
        yield bytes(changed)
    yield _with_members(parts, 100)
    yield _with_members(parts, 65000)


def _archive(
    parts: dict[str, np.ndarray], name: str, shape: str, header: str | None = None
) -> bytes:
    """Return an archive in which the array `name` has another shape or header than contents."""
    text = header or f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}"
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, array in parts.items():
            stream = io.BytesIO()
            np.lib.format.write_array(stream, array)
            data = stream.getvalue()
            if key == name:
                data = b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode() + bytes(64)
            archive.writestr(f"{key}.npy", data)
    return memory.getvalue()


def _with_members(parts: dict[str, np.ndarray], count: int) -> bytes:
    """Return an archive whose directory has `count` more entries for the first array."""
    whole = npz(**parts)
    start = whole.index(b"PK\1\2")
    entry = whole[start : whole.index(b"PK\1\2", start + 4)]
    end = bytearray(whole[-22:])
    struct.pack_into("<HH", end, 8, count + len(parts), count + len(parts))
    return whole[:-22] + entry * count + bytes(end)


# --- texts --------------------------------------------------------------------------------------


def _texts() -> Iterator[tuple[str, bytes]]:
    line = b"b," * 42 + b"win\n"
    pack: dict[str, Any] = {
        ".data": bytes,
        ".gz": lambda text: gzip.compress(text, mtime=0),
        ".xz": lambda text: lzma.compress(text, preset=1),
    }
    for suffix, compress in pack.items():
        for text in (
            b"",
            b"\n" * 1000,
            b"b," * 42 + b"won\n",
            b"\n" + line,
            line + b"\n\n" + line,
            b"x," * 42 + b"win\n",
            line[:-2],
        ):
            yield suffix, compress(text)
        if suffix != ".data":
            yield suffix, compress(bytes(8 * LARGE))
            yield suffix, compress(b"\n" * (2 * LARGE) + line)
            yield suffix, compress(line * 200) + b"more"
    # A decoder that needs 1.5 GB, which the file may choose.
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 26}]
    yield ".xz", lzma.compress(line, filters=filters)
    header = bytearray(lzma.compress(line))
    header[16] = 39  # the size of the dictionary
    header[20:24] = struct.pack("<I", zlib.crc32(header[12:20]))
    yield ".xz", bytes(header)


def _text_tables() -> Iterator[bytes]:
    empty = str(((0,) * 4,) * 3)
    moved = str(((0, 0, 0, 0), (0, 0, 0, 0), (1, 2, 0, 0)))
    floating = str(((0, 0, 0, 0), (2, 0, 0, 0), (0, 1, 0, 0)))
    for text in (
        "",
        "\n",
        "x" * 100_000,
        f'"{moved}",nan\n',
        f'"{moved}",1e400\n',
        f'"{moved}",1e31\n',
        f'"{moved}",\n',
        f'"{moved}",1\n"{moved}",2\n',
        f'"{floating}",1\n',
        f'"{moved}",1\n"{empty[:-1]}",1\n',
        f'"{moved}",1\n"{moved[:-3]}3))",1\n',
        f'"{moved}",1\n"{moved}",é\n',
        f'"{moved}",1\n\n',
        '"(((",1\n',
        '"' + "(" * 9000 + '",1\n',
        '"' + str(((0,) * 900,) * 1) + '",1\n',
        '"((0, 0), (0, 0)",1\n',
    ):
        yield gzip.compress(text.encode(), mtime=0)
    yield gzip.compress(bytes(8 * LARGE), mtime=0)
    yield gzip.compress(f'"{moved}",1\n'.encode() * 200_000, mtime=0)


# --- tables -------------------------------------------------------------------------------------


def _tables(good: bytes) -> Iterator[bytes]:
    body = good[40:]
    length = int.from_bytes(body[:4], "little")
    description = json.loads(body[4 : 4 + length])
    packed = body[4 + length :]
    for claims in (
        *({"entries": entries} for entries in (-1, 0, 1, 10**6, 10**9, 10**15, "x", None, 1e400)),
        *(
            {"lengths": lengths}
            for lengths in ([], [1], [-1, 2], [10**9, 1], [1, 2, 3], None, "ab")
        ),
        *({"board": board} for board in ("7x6x4", "99x99x4", 7, None, "x" * 10_000)),
        *({"form": form} for form in ("state-action", "x", None, [])),
        *({"initial": number} for number in ("x", None, 1e400, float("nan"))),
        *({"win": -5}, {"loss": 5}, {"mirror": 1, "counted": 1}, {"format": 2}, {"about": 7}),
        {"about": "x" * (1 << 16)},
    ):
        yield _table({**description, **claims}, packed)
    for text in (b"", b"[]", b"\xff", DEEP, VERY_DEEP, b"9" * 5000):
        yield q_file(len(text).to_bytes(4, "little") + text + packed)
    yield q_file((1 << 31).to_bytes(4, "little") + body[4:])
    yield good[:40] + body[:-1] + b"x"
    yield q_file(body + b"more")
    # A bomb: zeros that are not positions, as many as they say.
    for count in (10**6, LARGE):
        parts = [zlib.compress(bytes(size * count), 9) for size in (8, 4)]
        lengths = [len(part) for part in parts]
        yield _table({**description, "entries": count, "lengths": lengths}, b"".join(parts))
    yield _colliding(description)


def _table(description: dict[str, Any], packed: bytes) -> bytes:
    text = json.dumps(description).encode()
    return q_file(len(text).to_bytes(4, "little") + text + packed)


def _colliding(description: dict[str, Any]) -> bytes:
    """Return a table of 20,000 positions that all hash to a hundredth of the slots."""
    rng = np.random.default_rng(1)
    # Every column of a valid key is any number but 0 of seven bits.
    columns = rng.integers(1, 128, (7, 2_000_000), dtype=np.int64)
    keys = sum(column << 7 * place for place, column in enumerate(columns))
    assert isinstance(keys, np.ndarray)
    homes = keys * np.int64(table_kernel.HASH_MULTIPLIER) >> 48 & (1 << 16) - 1
    keys = np.unique(keys[homes < 700])
    numbers = np.zeros(len(keys), np.float32)
    parts = []
    for array in (np.diff(keys, prepend=0).astype("<i8"), numbers):
        size = array.dtype.itemsize
        parts.append(zlib.compress(array.view(np.uint8).reshape(-1, size).T.tobytes(), 1))
    claims = {"board": "7x6x4", "entries": len(keys), "lengths": [len(part) for part in parts]}
    return _table({**description, **claims}, b"".join(parts))


# --- safetensors --------------------------------------------------------------------------------


def _tensors(good: bytes) -> Iterator[bytes]:
    length = int.from_bytes(good[:8], "little")
    header = json.loads(good[8 : 8 + length])
    numbers = good[8 + length :]
    name = next(name for name in header if header[name]["dtype"] == "F32" and name.count("weight"))
    entry = header[name]
    begin, end = entry["data_offsets"]
    for size in (0, length - 1, length + 1, 1 << 40, (1 << 64) - 1):
        yield size.to_bytes(8, "little") + good[8:]
    for text in (b"", b"[]", b"null", b"\xff", DEEP, VERY_DEEP, b"9" * 5000, b" " * (1 << 21)):
        yield len(text).to_bytes(8, "little") + text + numbers
    for changes in (
        *({"shape": shape} for shape in ([-1], [1 << 40], [1 << 62] * 8, [True], [1.0], "x", None)),
        *({"shape": [0] * 5000}, {"shape": [[]]}, {"dtype": "X"}, {"dtype": None}, {"dtype": []}),
        *({"dtype": "F64"}, {"dtype": "F16"}, {"dtype": "BF16"}, {"dtype": "BOOL"}),
        *({"data_offsets": place} for place in ([0], [end, begin], [-4, end - begin - 4], None)),
        *({"data_offsets": [begin + 4, end + 4]}, {"data_offsets": [1 << 50, (1 << 50) + 4]}),
    ):
        yield _safetensors({**header, name: {**entry, **changes}}, numbers)
    yield _safetensors({**header, name: 7}, numbers)
    yield _safetensors({**header, "another": {**entry}}, numbers)
    yield _safetensors({key: about for key, about in header.items() if key != name}, numbers)
    yield _safetensors(header, numbers + b"more")
    yield _safetensors(header, numbers[:-1])
    for number in (np.nan, np.inf):
        bad = np.full((end - begin) // 4, number, np.float32).tobytes()
        yield _safetensors(header, numbers[:begin] + bad + numbers[end:])


def _safetensors(header: dict[str, Any], numbers: bytes) -> bytes:
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + numbers
