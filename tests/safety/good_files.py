"""Good files of every kind that Fourlab reads, and their mutations."""

import gzip
import hashlib
import io
import json
import lzma
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from safetensors.torch import save

from fourlab.agents.q.table import QForm, QTable
from fourlab.agents.q.text import write_text
from fourlab.datasets import labels
from fourlab.game.rules import Rules
from fourlab.nets.modules import Net
from fourlab.nets.network import Network
from fourlab.nets.onnx_graph import seal
from fourlab.nets.weights import save_net, to_int8
from fourlab.solver.book import Book
from fourlab.solver.build import unfinished_positions

RULES = Rules.parse("4x3x3")
TOWER = Network(
    "policy-value",
    "4x3x3",
    "threats",
    ("conv 4", "batchnorm", "relu", "residual 4"),
    ("dense 1", "tanh"),
    ("dense 4",),
)
Files = dict[str, bytes]
"""Contents by name."""


@cache
def good_files(folder: Path) -> Files:
    """Return one good file of every kind; `folder` is for writing them."""
    torch.manual_seed(1)
    net = Net(TOWER).eval()
    save_net(net, folder / "net.onnx")
    files = {
        "net-good.onnx": (folder / "net.onnx").read_bytes(),
        "net-good8.onnx": to_int8(net),
        "state-good.safetensors": save({"0.step": torch.ones(()), "0.exp_avg": torch.ones(3)}),
    }
    for kind in ("weights", "kaggle"):
        for suffix in (".json", ".safetensors"):
            files[f"{kind}-good{suffix}"] = (folder / f"net{suffix}").read_bytes()
    book().save(folder / "book.npz")
    files["book-good.npz"] = (folder / "book.npz").read_bytes()
    labels.save(data_set(), folder / "data.npz", {})
    files["data-good.npz"] = (folder / "data.npz").read_bytes()
    text = labels.as_text(labels.uci8().take(np.arange(20)))
    files["data-good.data"] = text
    files["data-good.gz"] = gzip.compress(text, mtime=0)
    files["data-good.xz"] = lzma.compress(text)
    table().save(folder / "table.q")
    files["table-good.q"] = (folder / "table.q").read_bytes()
    write_text(table(), folder / "text.gz")
    files["text-good.gz"] = (folder / "text.gz").read_bytes()
    return files


@cache
def book() -> Book:
    """Return the positions of up to three plies, with scores that are possible."""
    keys = np.sort(np.concatenate(list(islice(unfinished_positions(RULES), 4))))
    return Book(RULES, 3, keys, (keys % 5 - 2).astype(np.int8))


@cache
def data_set() -> labels.Labelled:
    """Return positions on which no column is full, with scores that are possible."""
    keys = np.concatenate(list(islice(unfinished_positions(RULES), 3)))
    columns = np.resize(np.arange(-2, 3), (len(keys), RULES.columns)).astype(np.int8)
    return labels.Labelled(RULES, keys, np.sign(columns.max(axis=1)), columns)


@cache
def table() -> QTable:
    """Return values of positions after a disc of the second player."""
    level = list(islice(unfinished_positions(RULES), 3))[2]
    numbers = np.linspace(-1, 1, len(level), dtype=np.float32)[:, None]
    return QTable.of(QForm(RULES), level, numbers, {"seat": "second"})


# --- checksums ----------------------------------------------------------------------------------


def resealed(data: bytes, **changes: str) -> bytes:
    """Return an ONNX file, changed after it was sealed, with the checksum that it must have."""
    model = onnx.load_from_string(data)
    metadata = {prop.key: prop.value for prop in model.metadata_props}
    del model.metadata_props[:]
    claims = {name: text for name, text in metadata.items() if name in ("network", "int8")}
    return seal(model.SerializeToString(), {**claims, **changes})


def npz(**arrays: np.ndarray) -> bytes:
    """Return a .npz file."""
    memory = io.BytesIO()
    np.savez_compressed(memory, **arrays)
    return memory.getvalue()


def book_file(keys: np.ndarray, scores: np.ndarray, **about: Any) -> bytes:
    """Return a book with these entries and a correct checksum."""
    good = book()
    claims = {
        "format": 1,
        "board": str(good.rules),
        "plies": good.plies,
        "entries": len(keys),
        "sha256": hashlib.sha256(keys.astype("<i8").tobytes() + scores.tobytes()).hexdigest(),
        **about,
    }
    text = np.frombuffer(json.dumps(claims).encode(), np.uint8)
    return npz(differences=np.diff(keys, prepend=0), scores=scores, about=text)


def data_file(keys: np.ndarray, columns: np.ndarray, **about: Any) -> bytes:
    """Return a data set with these positions and a correct checksum."""
    claims = {
        "format": 1,
        "board": str(RULES),
        "positions": len(keys),
        "sha256": hashlib.sha256(keys.astype("<i8").tobytes() + columns.tobytes()).hexdigest(),
        **about,
    }
    text = np.frombuffer(json.dumps(claims).encode(), np.uint8)
    return npz(keys=keys, scores=columns.max(axis=1), columns=columns, about=text)


def q_file(body: bytes) -> bytes:
    """Return a table with a correct checksum."""
    return b"FOURLABQ" + hashlib.sha256(body).digest() + body


def description_of(data: bytes, network: bytes | None = None) -> bytes:
    """Return the JSON file that belongs to weights."""
    text = network or json.dumps(json.loads(TOWER.write())).encode()
    checksum = hashlib.sha256(data).hexdigest()
    return b'{"network": ' + text + b', "sha256": "' + checksum.encode() + b'"}'


# --- mutations ----------------------------------------------------------------------------------


def mutations(good: Files, count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield `count` damaged files by name; every second one has a correct checksum.

    Descriptions come with the weights that they belong to.
    """
    rng = np.random.default_rng(seed)
    names = sorted(name for name in good if not name.endswith(".json"))
    for number in range(count):
        name = names[number % len(names)]
        kind, _, suffix = name.partition("-good")
        target = f"{kind}-{seed}-{number}{suffix.lstrip('8')}"
        data = _sealed(name, good, rng) if number // len(names) % 2 else None
        if data is None:
            data = damaged(good[name], rng, good[names[int(rng.integers(len(names)))]])
        yield target, data
        if kind in ("weights", "kaggle"):
            beside = good[f"{kind}-good.json"]
            if number // len(names) % 2:
                beside = description_of(data)
            if rng.random() < 0.2:
                beside = damaged(beside, rng, beside)
            yield target.replace(".safetensors", ".json"), beside


def damaged(data: bytes, rng: np.random.Generator, other: bytes) -> bytes:
    """Return the data with flipped bits, cut short, or joined with a part of other data."""
    way = rng.integers(4)
    place = int(rng.integers(len(data) + 1))
    if way == 0:
        return data[:place]
    if way == 1:
        start = int(rng.integers(len(other)))
        return data[:place] + other[start : start + int(rng.integers(200))] + data[place:]
    if way == 2:
        # A run of equal bytes, which makes large numbers or lengths.
        length = int(rng.integers(1, 9))
        return data[:place] + bytes([int(rng.integers(256))]) * length + data[place + length :]
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 9))):
        changed[int(rng.integers(len(data)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _sealed(name: str, good: Files, rng: np.random.Generator) -> bytes | None:
    """Return a damaged file whose checksum is correct; None if it has none."""
    kind = name.partition("-")[0]
    if kind == "net":
        metadata = {p.key: p.value for p in onnx.load_from_string(good[name]).metadata_props}
        graph = good[name][: int(metadata["bytes"])]
        claims = {key: metadata[key] for key in ("network", "int8") if key in metadata}
        if rng.random() < 0.3:
            text = damaged(claims["network"].encode(), rng, b"conv 9")
            claims["network"] = text.decode(errors="replace")
            return seal(graph, claims)
        return seal(damaged(graph, rng, graph), claims)
    if kind == "table":
        return q_file(damaged(good[name][40:], rng, good[name][40:]))
    if kind == "book":
        keys, scores = book().keys.copy(), book().scores.copy()
        _flip(keys, rng)
        _flip(scores, rng)
        return book_file(keys, scores)
    if name == "data-good.npz":
        keys, columns = data_set().keys.copy(), data_set().columns
        assert columns is not None
        columns = columns.copy()
        _flip(keys, rng)
        _flip(columns, rng)
        return data_file(keys, columns)
    if name.endswith(".gz"):
        text = gzip.decompress(good[name])
        return gzip.compress(damaged(text, rng, text), mtime=0)
    if name.endswith(".xz"):
        text = lzma.decompress(good[name])
        return lzma.compress(damaged(text, rng, text), preset=1)
    return None


def _flip(array: np.ndarray, rng: np.random.Generator) -> None:
    """Flip up to three bits of an array."""
    raw = array.view(np.uint8).reshape(-1)
    for _ in range(int(rng.integers(4))):
        raw[int(rng.integers(len(raw)))] ^= 1 << int(rng.integers(8))
