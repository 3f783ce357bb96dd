"""Vectors from wherever they are kept, into ``<out>/<dataset>/embeddings/<backbone>.npz`` under the set's image ids."""

from __future__ import annotations

import argparse
import os
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.errors import ConfigError, DataError
from fairfr.core.keys import check_id
from fairfr.core.types import I64, UNKNOWN, Bool
from fairfr.core.visible import visible
from fairfr.core.wording import counted, first_few, spaced
from fairfr.data.files import DataFile, find_table
from fairfr.data.images_file import read_images
from fairfr.data.importers._keyed_vectors import KeyedVectors
from fairfr.data.importers.embedding_sources import read_source
from fairfr.data.importers.image_keys import NAMED, Matches, match

_DATE = (1980, 1, 1, 0, 0, 0)  # the same in every archive: equal vectors give equal bytes
_CHUNK = 4096


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``import_data.py embeddings``."""
    parser.add_argument("--dataset", required=True, help="id of a data set whose images.csv is in --out already")
    parser.add_argument("--backbone", required=True, help="id under which the vectors are kept, e.g. arcface")
    parser.add_argument("--from", dest="sources", type=Path, nargs="+", required=True, metavar="FILE", help=_FROM)
    parser.add_argument("--names", type=Path, help="the names that belong to an npy file, one in each line")
    parser.add_argument("--out", type=Path, default=Path("data"), help="data root (default: data)")
    parser.add_argument("--missing", choices=("stop", "report"), default="stop", help=_MISSING)


_FROM = "npz, npy (with --names), pickle, HDF5, or a folder of .npy files; one or several"
_MISSING = "images without a usable vector: stop (default), or write the others and report these"


def run(arguments: argparse.Namespace) -> str:
    """Import; returns what was found and written, for people."""
    for option in ("dataset", "backbone"):
        check_id(f"--{option}", getattr(arguments, option))
    folder: Path = arguments.out / arguments.dataset
    if arguments.names is not None and len(arguments.sources) > 1:
        raise ConfigError("--names goes with one npy file. Import one file, or put the vectors into npz files.")
    images = _images(folder)
    sources = [read_source(path, arguments.names) for path in arguments.sources]
    chosen = choose(sources, images)
    found = _describe(sources, chosen, images)
    if chosen.absent(images) and arguments.missing == "stop":
        raise DataError(
            f"{found}\n  Nothing was written. Add the files that hold the others, or write what is there with "
            "--missing report; runs then need dataset.missing=drop."
        )
    path = folder / "embeddings" / f"{arguments.backbone}.npz"
    write_vectors(path, [images[row] for row in chosen.images.tolist()], chosen.vectors)
    written = f"{counted(len(chosen.images), 'vector')} of width {chosen.vectors.shape[1]} written"
    return visible(f"{path}: {written}\n{found}")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The ``vectors`` (k, d) of the images with rows ``images`` (k,), ascending; how keys matched; what was left out.

    ``repeats`` counts vectors that were there again, ``unusable`` the images whose vector is zero or not finite.
    """

    images: I64
    vectors: npt.NDArray[np.floating[Any]]
    matches: Matches
    repeats: int
    unusable: tuple[str, ...]

    def absent(self, images: Sequence[str]) -> list[str]:
        """The images that got no vector."""
        there = np.zeros(len(images), bool)
        there[self.images] = True
        return [images[row] for row in np.flatnonzero(~there).tolist()]


def choose(sources: Sequence[KeyedVectors], images: Sequence[str]) -> Chosen:
    """One vector for each image that has one; two different ones for one image are an error."""
    for source in sources[1:]:
        if source.vectors.shape[1] != sources[0].vectors.shape[1]:
            raise DataError(
                f"{source.path} has vectors of width {source.vectors.shape[1]}, {sources[0].path} of width "
                f"{sources[0].vectors.shape[1]}. Import the vectors of one backbone at a time."
            )
    keys = tuple(key for source in sources for key in source.keys)
    matches = match(keys, images)
    first = _first_of_each(sources, matches, images)
    stacked = _one_type(sources)
    rows = first[first != UNKNOWN]
    usable = _usable(stacked, rows)
    unusable = tuple(keys[row] for row in rows[~usable].tolist())
    if not usable.any():
        raise DataError(
            f"{sources[0].path}: no usable vector belongs to an image of the data set. Keys look like '{keys[0]}', "
            f"images like '{images[0]}'.\n  {matches.report()}"
        )
    here = np.flatnonzero(first != UNKNOWN)[usable]
    repeats = int(np.count_nonzero(matches.row != UNKNOWN)) - len(rows)
    return Chosen(here, stacked[rows[usable]], matches, repeats, unusable)


def write_vectors(path: Path, images: Sequence[str], vectors: npt.NDArray[np.floating[Any]]) -> None:
    """Write ``images`` and ``vectors`` (n, d) as an npz: whole or not at all, and the same bytes every time."""
    arrays = {"image": np.array(images, dtype=np.str_), "vectors": np.ascontiguousarray(vectors)}
    partial = path.with_name(f".{path.name}.partial-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as handle:
            with zipfile.ZipFile(handle, "w", zipfile.ZIP_STORED) as archive:
                for name, array in arrays.items():
                    entry = zipfile.ZipInfo(f"{name}.npy", _DATE)
                    entry.create_system = 3  # otherwise it depends on the platform
                    with archive.open(entry, "w", force_zip64=True) as member:
                        np.lib.format.write_array(member, array, allow_pickle=False)
            handle.flush()
            os.fsync(handle.fileno())
        partial.replace(path)
    except OSError as error:
        raise DataError(f"{path} cannot be written ({error.strerror}). Choose another place with --out.") from None
    finally:
        if partial.parent.is_dir():
            partial.unlink(missing_ok=True)


def _images(folder: Path) -> tuple[str, ...]:
    table = find_table(folder / "images")
    if table is None:
        raise DataError(
            f"{folder / 'images.csv'}: not found. Import the data set itself first (import_data.py rfw, bfw or lfw): "
            "vectors are kept under its image ids."
        )
    return tuple(read_images(DataFile.at(table), ()).ids)


def _first_of_each(sources: Sequence[KeyedVectors], matches: Matches, images: Sequence[str]) -> I64:
    """For each image (n,) the row of its first vector among all sources' (-1 = none); repeats must be identical."""
    origin = np.repeat(np.arange(len(sources)), [len(source.keys) for source in sources])
    start = np.cumsum([0, *(len(source.keys) for source in sources)])
    first = np.full(len(images), UNKNOWN, np.int64)
    for row, image in enumerate(matches.row.tolist()):
        if image == UNKNOWN:
            continue
        if first[image] == UNKNOWN:
            first[image] = row
            continue
        a, b = (sources[origin[at]].vectors[at - start[origin[at]]] for at in (first[image], row))
        if not np.array_equal(a, b, equal_nan=True):
            raise DataError(
                f"image '{images[image]}' has two different vectors: under '{matches.keys[first[image]]}' in "
                f"{sources[origin[first[image]]].path} and under '{matches.keys[row]}' in {sources[origin[row]].path}. "
                "Keep one of them."
            )
    return first


def _one_type(sources: Sequence[KeyedVectors]) -> npt.NDArray[np.floating[Any]]:
    """All vectors (m, d), in float16 if all are, else in float32."""
    narrow = all(source.vectors.dtype.name == "float16" for source in sources)
    with np.errstate(over="ignore"):  # what leaves the range becomes infinite, and is found as such
        parts = [source.vectors.astype(np.float16 if narrow else np.float32) for source in sources]
    return np.concatenate(parts)


def _usable(vectors: npt.NDArray[np.floating[Any]], rows: I64) -> Bool:
    """Which of the ``rows`` (k,) are finite and not zero."""
    usable = np.ones(len(rows), bool)
    for start in range(0, len(rows), _CHUNK):
        chunk = vectors[rows[start : start + _CHUNK]]
        usable[start : start + _CHUNK] = np.isfinite(chunk).all(axis=1) & chunk.any(axis=1)
    return usable


def _describe(sources: Sequence[KeyedVectors], chosen: Chosen, images: Sequence[str]) -> str:
    """What was found, one line each."""
    lines = [f"{source.path}: {counted(len(source.keys), 'vector')}" for source in sources]
    lines.append(chosen.matches.report())
    if chosen.repeats:
        lines.append(f"{counted(chosen.repeats, 'vector')} repeated, identical; kept once")
    blank = tuple(key for source in sources for key in source.blank)
    absent = chosen.absent(images)
    for names, what in (
        (blank, "without a vector in the file"),
        (chosen.unusable, "with a vector that is zero or not finite (nan or inf)"),
        (absent, f"of {spaced(len(images))} without a usable vector"),
    ):
        if names:
            lines.append(f"{counted(len(names), 'image')} {what} (first: {first_few(names, NAMED)})")
    return "\n".join(lines)
