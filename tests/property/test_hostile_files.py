"""Whatever happened to a file on its way: it is read, or refused with a message of ours, in bounded memory.

Each kind of file that fairfr reads has a sound example (``KINDS``), which is damaged by seeded mutations. A new kind is
one entry: how to make a sound example in an empty folder, and how a run, an import or a table reads that folder.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import yaml
from omegaconf import DictConfig
from pyarrow import parquet

from fairfr.core.errors import ConfigError, FairfrError
from fairfr.core.run_key import RunKey
from fairfr.core.run_result import RunResult
from fairfr.core.text import escape_control_chars
from fairfr.core.types import PAIR_RULES, ScoreFrame
from fairfr.data.importers.embedding_formats import read_embeddings
from fairfr.data.locate import locate
from fairfr.data.settings import BackboneSettings, DatasetSettings
from fairfr.faces.alignment import read_landmarks
from fairfr.faces.extraction import read_list
from fairfr.methods import _clusters
from fairfr.metrics.cell_metrics import PairGroups, compute_metrics, summarise
from fairfr.runner.record import jsonable
from fairfr.store.parquet_files import write_metrics, write_scores
from fairfr.store.run_folder import RunFolders
from fairfr.stored import scores as stored_scores
from fairfr.stored.runs import read_runs

ROOM = 3 * 2**29  # bytes that reading a file of a few kilobytes may take, beyond what the process has
TIMES = int(os.environ.get("FAIRFR_FUZZ", "1"))  # how often as many mutations as usual
RNG = np.random.default_rng

# --- mutations of bytes ------------------------------------------------------------------------------------------

TOKENS = (
    *(
        b"",
        b"\0",
        b"\xff",
        b'"',
        b"'",
        b"\n",
        b"\r",
        b"\n\n",
        b",",
        b";",
        b"\t",
        b"|",
        b"\xef\xbb\xbf",
        b"\xed\xa0\x80",
    ),
    *(b"nan", b"-inf", b"1e999", b"9" * 400, b"-1", b"4294967296", b"\x1b[2J", b"\xe2\x80\xae", b"=1+1", b"a" * 3000),
    *(b"PK\x05\x06", b"\x80\x05", b"PAR1", b"../../x", b"__reduce__"),
)
EXTREMES = tuple(
    value.to_bytes(size, "little")
    for size in (2, 4, 8)
    for value in (0, 1, 2 ** (8 * size) - 1, 2 ** (8 * size - 1), 2 ** (8 * size - 1) - 1, 10 ** (size + 1))
)


def _cut(data: bytes, rng: np.random.Generator) -> bytes:
    return data[: rng.integers(len(data) + 1)]


def _flip(data: bytes, rng: np.random.Generator) -> bytes:
    out = bytearray(data)
    for at in rng.integers(len(out), size=rng.integers(1, 9)):
        out[at] ^= 1 << int(rng.integers(8))
    return bytes(out)


def _noise(data: bytes, rng: np.random.Generator) -> bytes:
    start, length = rng.integers(len(data)), rng.integers(1, 40)
    return data[:start] + rng.bytes(int(length)) + data[start + length :]


def _swap(data: bytes, rng: np.random.Generator) -> bytes:
    a, b, c, d = sorted(rng.integers(len(data) + 1, size=4).tolist())
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def _double(data: bytes, rng: np.random.Generator) -> bytes:
    start, stop = sorted(rng.integers(len(data) + 1, size=2).tolist())
    return data[:stop] + data[start:stop] * int(rng.integers(1, 4)) + data[stop:]


def _drop(data: bytes, rng: np.random.Generator) -> bytes:
    start, length = rng.integers(len(data)), rng.integers(1, 60)
    return data[:start] + data[start + length :]


def _insert(data: bytes, rng: np.random.Generator) -> bytes:
    at = rng.integers(len(data) + 1)
    return data[:at] + TOKENS[rng.integers(len(TOKENS))] + data[at:]


def _renumber(data: bytes, rng: np.random.Generator) -> bytes:
    """A number in the text, or a word of the file, becomes something else."""
    words = list(re.finditer(rb"[0-9.]+|[A-Za-z_]+", data))
    if not words:
        return data
    found = words[rng.integers(len(words))]
    return data[: found.start()] + TOKENS[rng.integers(len(TOKENS))] + data[found.end() :]


def _extreme(data: bytes, rng: np.random.Generator) -> bytes:
    """A number inside a binary file becomes the largest, smallest or a huge one."""
    value, at = EXTREMES[rng.integers(len(EXTREMES))], rng.integers(len(data))
    return data[:at] + value + data[at + len(value) :]


def _lines(data: bytes, rng: np.random.Generator) -> bytes:
    """Lines change places, and some come twice."""
    lines = data.split(b"\n")
    return b"\n".join(lines[at] for at in rng.integers(len(lines), size=len(lines)))


MUTATIONS = (_cut, _flip, _noise, _swap, _double, _drop, _insert, _renumber, _extreme, _lines)

# --- sound examples ----------------------------------------------------------------------------------------------

IDS = [f"p{k // 2}/img_{k}.jpg" for k in range(12)]
VECTORS = RNG(0).normal(size=(12, 6)).astype("f4")


def _tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    images = pd.DataFrame({"image": IDS, "identity": [f"p{k // 2}" for k in range(12)], "kind": list("aabb") * 3})
    rows = [(k % 3, IDS[2 * k], IDS[2 * k + 1], 1) for k in range(6)]
    rows += [(k % 3, IDS[k], IDS[(k + 5) % 12], 0) for k in range(9)]
    pairs = pd.DataFrame(rows, columns=["fold", "left", "right", "same"])
    pairs["cos"] = np.linspace(0.9, -0.2, len(pairs))
    return images, pairs


def make_csv(folder: Path) -> None:
    images, pairs = _tables()
    (folder / "embeddings").mkdir()
    images.to_csv(folder / "images.csv", index=False)
    pairs.to_csv(folder / "pairs.csv", index=False)
    np.savez(folder / "embeddings" / "net.npz", image=np.array(IDS), vectors=VECTORS)


def make_parquet(folder: Path) -> None:
    make_csv(folder)
    for name, table in zip(("images", "pairs"), _tables(), strict=True):
        table.to_parquet(folder / f"{name}.parquet")
        (folder / f"{name}.csv").unlink()


def make_npz(folder: Path) -> None:
    np.savez_compressed(folder / "v.npz", image=np.array(IDS), vectors=VECTORS)


def make_npy(folder: Path) -> None:
    np.save(folder / "v.npy", VECTORS)
    (folder / "names.txt").write_text("\n".join(IDS))


def make_tree(folder: Path) -> None:
    for key, row in zip(IDS[:4], VECTORS, strict=False):
        path = folder / "tree" / f"{key}.npy"
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, row)


def make_centres(folder: Path) -> None:
    np.savez(folder / "c.npz", centres=VECTORS)


def _pair_list(folds: int, people: str) -> str:
    lines = []
    for fold in range(folds):
        names = [f"{people}_{fold}{k}" for k in range(3)]
        lines += [f"{name}\t1\t2" for name in names]
        lines += [f"{name}\t1\t{names[k - 1]}\t2" for k, name in enumerate(names)]
    return "\n".join(lines) + "\n"


def make_lfw(folder: Path) -> None:
    (folder / "pairs.txt").write_text("2\t3\n" + _pair_list(2, "Some_One"))
    people = [f"Some_One_{fold}{k}" for fold in range(2) for k in range(3)]
    groups = pd.DataFrame({"person": people, "gender": ["female", "male"] * 3, "ethnicity": ["asian", "", "white"] * 2})
    groups.to_csv(folder / "groups.csv", index=False)
    names = ["person", "imagenum", "Male", "Asian", "White", "Black", "Eyeglasses"]
    rows = ["\t".join([person.replace("_", " "), "1", "0.7", "-1", "0.5", "-2", "0.4"]) for person in people]
    (folder / "attributes.txt").write_text("\n".join(["# lfw_attributes.txt", "#\t" + "\t".join(names), *rows]))


def make_rfw(folder: Path) -> None:
    for name in ("African", "Asian", "Caucasian", "Indian"):
        (folder / "txts" / name).mkdir(parents=True)
        (folder / "txts" / name / f"{name}_pairs.txt").write_text(_pair_list(2, "m.0"))


def _bfw() -> pd.DataFrame:
    def end(group: str, person: int, image: int, side: str) -> dict[str, Any]:
        path = f"{group}/n00{group[0]}{person}/000{image}_01.jpg"
        return {f"p{side}": path, f"id{side}": 10 * ord(group[0]) + person, f"att{side}": group}

    rows = []
    for fold in (1, 2):
        for group in ("asian_females", "black_males", "white_males"):
            for other, image in ((fold, 2), (fold + 2, 1)):
                pair = end(group, fold, 1, "1") | end(group, other, image, "2")
                rows.append({"fold": fold, **pair, "label": int(other == fold), "vgg16": 0.3 + 0.1 * image})
    return pd.DataFrame(rows)


def make_bfw(folder: Path) -> None:
    _bfw().to_csv(folder / "bfw.csv", index=False)


def make_rfw_table(folder: Path) -> None:
    rows = []
    for ethnicity in ("African", "Asian", "Caucasian", "Indian"):
        for fold in (0, 1):
            rows.append([fold, f"m.{fold}a", 1, f"m.{fold}a", 12, ethnicity, 1, 0.8])
            rows.append([fold, f"m.{fold}a", 3, f"m.{fold}b", 2, ethnicity, 0, 0.1])
    columns = ["fold", "id1", "num1", "id2", "num2", "ethnicity", "same", "facenet"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "rfw.csv", index=False)


def make_extraction(folder: Path) -> None:
    (folder / "list.txt").write_text("\n".join(f"{name}\t{name}" for name in IDS))
    points = RNG(1).uniform(0, 100, size=(12, 10)).round(1)
    rows = [",".join([name, *map(str, row)]) for name, row in zip(IDS, points, strict=True)]
    (folder / "landmarks.csv").write_text("image,x1,y1,x2,y2,x3,y3,x4,y4,x5,y5\n" + "\n".join(rows))


# --- how they are read -------------------------------------------------------------------------------------------

DATASET = DatasetSettings("set", "Set", ("kind",), min_pairs=1)


def read_run(folder: Path) -> object:
    return locate(DATASET, BackboneSettings("net", "Net"), folder.parent, "files").load()


def read_scores(folder: Path) -> object:
    return locate(DATASET, BackboneSettings("scores", "Scores", "cos"), folder.parent, "files").load()


def _command(module: str, folder: Path, *words: str) -> object:
    """As the command line does it, but nothing is left behind."""
    parts: ModuleType = import_module(module)
    parser = argparse.ArgumentParser()
    parts.add_arguments(parser)
    out = folder.parent / "out"
    shutil.rmtree(out, ignore_errors=True)
    return parts.run(parser.parse_args([*words, *([] if "check" in module else ["--out", str(out)])]))


def read_checked(folder: Path) -> object:
    words = ("--dataset", "set", "--data-root", str(folder.parent), "--grouping", "kind")
    return _command("fairfr.data.check.command", folder, *words, "--backbone", "net"), _command(
        "fairfr.data.check.command", folder, *words, "--column", "cos", "--json"
    )


def read_lfw(folder: Path) -> object:
    words = ("--pairs", str(folder / "pairs.txt"), "--groups", str(folder / "groups.csv"))
    return _command("fairfr.data.importers.lfw", folder, *words, "--attributes", str(folder / "attributes.txt"))


def read_extraction(folder: Path) -> object:
    marks = read_landmarks(folder / "landmarks.csv")
    return [marks.of(entry.listed) for entry in read_list(folder / "list.txt", folder)]


def _config() -> dict[str, Any]:
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    with initialize_config_dir(str(Path(__file__).parents[2] / "conf"), version_base=None):
        config = compose("config", ["dataset=lfw", "method=faircal", "store=folder", "source=synthetic"])
    plain: dict[str, Any] = OmegaConf.to_container(config)  # type: ignore[assignment]
    return plain


def make_config(folder: Path) -> None:
    (folder / "config.yaml").write_text(yaml.safe_dump(_config(), sort_keys=False))


def read_config(folder: Path) -> object:
    """From a composed configuration to a method and a key. What is no yaml at all is Hydra's to refuse."""
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    from fairfr.sweep import read_settings

    try:
        config = OmegaConf.create(yaml.safe_load((folder / "config.yaml").read_bytes().decode()))
        assert isinstance(config, DictConfig) and not config._is_none()
    except (yaml.YAMLError, OmegaConfBaseException, AssertionError, ValueError, TypeError, OverflowError) as error:
        raise ConfigError("no configuration") from error
    settings, _ = read_settings(config)
    return settings.method.build(), settings.key("files", "0" * 64)


def make_runs(folder: Path) -> None:
    """A run as a cell leaves it, of made-up scores."""
    key = RunKey("set", "net", "platt", "files", "0" * 16)
    n = 200
    rng = RNG(3)
    same = rng.random(n) < 0.5
    values = np.clip(same * 0.4 + rng.random(n) * 0.6, 0, 1)
    frame = ScoreFrame((np.arange(n) % 2).astype(np.int16), same, values, values)
    columns = {name: values for name in ("cosine", "score", "probability")} | {"pair": np.arange(n), "same": same}
    columns |= {
        name: np.array(["a", "b"], dtype=object)[np.arange(n) % 2] for name in ("kind", "left", "right", "fold")
    }
    runs = RunFolders(folder)
    with runs.draft(key) as draft:
        write_scores(draft / "scores.parquet", columns)
        rows = compute_metrics(
            frame, ("0", "1"), [PairGroups("kind", rule, ("a", "b"), frame.fold) for rule in PAIR_RULES], 5
        )
        write_metrics(draft / "metrics.parquet", rows)
        nouns = {noun: {"id": id, "label": id} for noun, id in (("dataset", "set"), ("backbone", "net"))}
        method = {"id": "platt", "label": "Platt", "needs": [], "native_probability": True}
        data = {"folds": ["0", "1"], "grouping": "kind", "groups": {"kind": ["a", "b"]}, "pairs": n, "digest": "0"}
        stored = {
            **nouns,
            **{"key": str(key), "status": "completed", "source": "files", "method": method, "data": data},
            **{"finished": "2026-01-01T00:00:00+00:00", "identity": {}, "differs": {}, "seconds": 1.0},
            **{"metrics": jsonable(summarise(rows)), "warnings": [], "metric_warnings": []},
        }
        runs.publish(draft, key, RunResult.from_json(stored))
    shutil.rmtree(folder / ".partial")


def read_run_folder(folder: Path) -> object:
    """As tables and as a skip read them; None if the run is not believed."""
    stored_scores._whole.clear()  # it remembers which folders were whole, and this one changes
    results, damaged = read_runs(folder)
    assert len(results) + len(damaged) == 1
    key = RunKey("set", "net", "platt", "files", "0" * 16)
    done = RunFolders(folder).completed(key)
    for result in results:
        result.mean("auroc")
        scores = stored_scores.RunScores.if_available(result)
        assert scores is None or len(scores.pair_groups("first")) == len(scores.probability) == 200
    return done


class Kind(NamedTuple):
    """``make`` puts sound files into a folder, ``read`` reads them; ``odd`` writes files of odd types instead."""

    make: Callable[[Path], None]
    read: Callable[[Path], object]
    odd: Callable[[Path, np.random.Generator], None] | None = None
    count: int = 120


# --- odd types ---------------------------------------------------------------------------------------------------


def _odd_array(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    kinds = (
        "i1",
        "u8",
        "c8",
        "?",
        "M8[s]",
        "m8[D]",
        "U7",
        "S3",
        "g",
        "f2",
        ">f4",
        "f8",
        [("a", "f4"), ("b", "U2")],
        "V4",
    )
    shape = ((12, 6), (12,), (), (0, 6), (12, 0), (12, 1, 6), (6, 12), (1, 12, 6), (13, 6))[rng.integers(9)]
    with np.errstate(all="ignore"):
        array = np.zeros(shape, np.dtype(kinds[rng.integers(len(kinds))]))
    if array.dtype.kind == "f" and array.size:
        array[...] = (1e300, np.nan, np.inf, 1e-40, -1.0)[rng.integers(5)]
    return np.asfortranarray(array) if rng.random() < 0.3 else array


def odd_npz(folder: Path, rng: np.random.Generator) -> None:
    names = [np.array(IDS), np.array(IDS, "S"), np.array([""] * 12), np.array(["a\0b"] * 12), _odd_array(rng)]
    target = folder / "embeddings" / "net.npz" if (folder / "embeddings").is_dir() else folder / "v.npz"
    keys = ("image", "vectors", "arr_0", "a/b", "image.npy", "\u202e")
    extra = {keys[rng.integers(len(keys))]: _odd_array(rng)}
    np.savez(target, **{"image": names[rng.integers(5)], "vectors": _odd_array(rng)} | extra)


def odd_npy(folder: Path, rng: np.random.Generator) -> None:
    np.save(folder / "v.npy", _odd_array(rng))


def _odd_column(size: int, rng: np.random.Generator) -> pa.Array:
    some = [
        pa.nulls(size),
        pa.array([True, False] * size)[:size],
        pa.array(np.arange(size, dtype="u8") + 2**63),
        pa.array(np.arange(size, dtype="f2")),
        pa.array(np.full(size, np.nan)),
        pa.array(np.full(size, 1e300)),
        pa.array([b"\xff\xfe"] * size),
        pa.array([[1, 2]] * size),
        pa.array([{"a": 1}] * size),
        pa.array(np.arange(size), pa.timestamp("us")),
        pa.array(np.arange(size).astype("i4"), pa.date32()),
        pa.array(np.arange(size), pa.duration("s")),
        pa.array([f"{k}" for k in range(size)], pa.large_string()).dictionary_encode(),
        pa.array([None, "x"] * size)[:size],
        pa.array(np.arange(size)).cast(pa.decimal128(25, 2)),
        pa.array([["x", None]] * size, pa.list_(pa.string())),
        pa.array([b"abcd"] * size, pa.binary(4)),
    ]
    return some[rng.integers(len(some))]


def odd_parquet(folder: Path, rng: np.random.Generator) -> None:
    name, frame = (("images", "pairs")[k := int(rng.integers(2))], _tables()[k])
    table = pa.Table.from_pandas(frame, preserve_index=False)
    column = int(rng.integers(table.num_columns))
    table = table.set_column(column, table.column_names[column], _odd_column(len(frame), rng))
    parquet.write_table(table, folder / f"{name}.parquet")


def odd_config(folder: Path, rng: np.random.Generator) -> None:
    """A key goes, comes, or gets an odd value."""
    some = (None, "", "x" * 400, -1, 0, 2**70, 1e400, float("nan"), True, [], [1], {}, {"a": 1}, "???", "${seed}")
    odd = (*some, "${nowhere}", "../x", "a/b", "\x1b[2J", "no.such.Class", "fairfr", ".", "fairfr.core.run_key.RunKey")
    plain = node = _whole_config(folder)
    while True:
        key = list(node)[rng.integers(len(node))]
        if not isinstance(node[key], dict) or not node[key] or rng.random() < 0.2:
            break
        node = node[key]
    change = rng.integers(4)
    if change == 0:
        del node[key]
    elif change == 1:
        node[("extra", "_target_", "", "a.b", 7)[rng.integers(5)]] = odd[rng.integers(len(odd))]
    else:
        node[key] = odd[rng.integers(len(odd))]
    (folder / "config.yaml").write_text(yaml.safe_dump(plain, sort_keys=False))


def _whole_config(folder: Path) -> dict[str, Any]:
    plain: dict[str, Any] = yaml.safe_load((folder / "config.yaml").read_text())
    return plain


def _imported(module: str, name: str, option: str) -> Callable[[Path], object]:
    return lambda folder: _command(f"fairfr.data.importers.{module}", folder, option, str(folder / name))


KINDS: dict[str, Kind] = {
    "csv and npz": Kind(make_csv, read_run, odd_npz, 250),
    "csv of scores": Kind(make_csv, read_scores),
    "csv, checked": Kind(make_csv, read_checked, odd_npz, 60),
    "parquet": Kind(make_parquet, read_run, odd_parquet, 250),
    "parquet of scores": Kind(make_parquet, read_scores, odd_parquet),
    "npz of vectors": Kind(make_npz, lambda folder: read_embeddings(folder / "v.npz"), odd_npz),
    "npy with names": Kind(make_npy, lambda folder: read_embeddings(folder / "v.npy", folder / "names.txt"), odd_npy),
    "tree of npy": Kind(make_tree, lambda folder: read_embeddings(folder / "tree")),
    "cached centres": Kind(make_centres, lambda folder: _clusters._read(folder / "c.npz", (12, 6))),
    "LFW's pairs and groups": Kind(make_lfw, read_lfw),
    "RFW's lists": Kind(make_rfw, _imported("rfw", "", "--root")),
    "RFW as a table": Kind(make_rfw_table, _imported("rfw", "rfw.csv", "--table")),
    "BFW's datatable": Kind(make_bfw, _imported("published_tables", "bfw.csv", "--table")),
    "configuration": Kind(make_config, read_config, odd_config, 100),
    "run folders": Kind(make_runs, read_run_folder),
    "lists and landmarks": Kind(make_extraction, read_extraction),
}


@contextmanager
def little_memory() -> Iterator[None]:
    """A MemoryError, which no reader may let through, for whatever takes more than ``ROOM``; on Linux."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + ROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def _damage(folder: Path, sound: dict[Path, bytes], kind: Kind, rng: np.random.Generator) -> str:
    """Put the files into ``folder`` with something wrong; returns what was done."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, data in sound.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    if kind.odd is not None and rng.random() < 0.4:
        kind.odd(folder, rng)
        return "odd types"
    path = list(sound)[rng.integers(len(sound))]
    data, done = sound[path], []
    for _ in range(rng.integers(1, 4)):
        mutation = MUTATIONS[rng.integers(len(MUTATIONS))]
        data = mutation(data, rng) if data else data
        done.append(mutation.__name__)
    path.write_bytes(data)
    return f"{path.name}: {', '.join(done)}"


@pytest.mark.parametrize("name", KINDS)
def test_damaged_files_are_read_or_refused(tmp_path: Path, name: str) -> None:
    kind, folder = KINDS[name], tmp_path / "set"
    folder.mkdir()
    kind.make(folder)
    kind.read(folder)  # the example is sound
    sound = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    refused = 0
    with warnings.catch_warnings(), little_memory():
        warnings.simplefilter("ignore")
        for seed in range(TIMES * kind.count):
            done = _damage(folder, sound, kind, RNG([zlib.crc32(name.encode()), seed]))
            try:
                refused += kind.read(folder) is None
            except FairfrError as error:
                refused += 1
                assert escape_control_chars(str(error)) == str(error), (seed, done, str(error))
            except Exception as error:
                pytest.fail(f"{name}, seed {seed} ({done}): {type(error).__name__}: {str(error)[:300]}")
    assert refused > TIMES * kind.count / 5  # or the mutations do nothing


def test_the_sound_examples_stay_what_they_are() -> None:
    """Each mutation changes bytes, and the same seed gives the same bytes."""
    stream = io.BytesIO()
    np.savez(stream, image=np.array(IDS), vectors=VECTORS)
    data = stream.getvalue()
    for mutation in MUTATIONS:
        changed = [mutation(data, RNG(seed)) for seed in range(20)]
        assert changed == [mutation(data, RNG(seed)) for seed in range(20)]
        assert sum(other != data for other in changed) > 10, mutation.__name__
