"""Find the data of a run and name its bytes, and parse nothing: a finished run is skipped on this alone."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from fairfr.core.errors import ConfigError, DataError, did_you_mean
from fairfr.core.findings import STAND_IN_USED, Finding
from fairfr.core.run_key import check_path_name
from fairfr.core.types import Source, VerificationSet
from fairfr.data.files import DataFile, find_table, import_hint, path_exists, table_path_text
from fairfr.data.settings import BackboneSettings, DatasetSettings

PLAIN_NAME = re.compile(r"[\w.-]+")  # what can be typed as a choice without quotes
MAX_LISTED_NAMES = 12  # of a folder's content


@dataclass(frozen=True, slots=True)
class LocatedData:
    """Data that is there and can be loaded; ``digest`` names its bytes.

    ``spec`` is all else that decides what is loaded: two equal values load the same data.
    """

    source: Source
    digest: str
    warning: Finding | None
    spec: tuple[DatasetSettings, BackboneSettings, Mapping[str, Path]] = field(repr=False, hash=False)
    _load: Callable[[], VerificationSet] = field(repr=False, compare=False)

    def load(self) -> VerificationSet:
        """Read and check it all."""
        return self._load()


def locate(
    dataset: DatasetSettings, backbone: BackboneSettings, data_root: Path, source: Literal["auto", "files", "synthetic"]
) -> LocatedData:
    """The files of a run, or its stand-in.

    ``auto`` takes the files if they are there. Only where the data set has no folder at all it takes the stand-in, if
    there is one, with a warning: files that are wrong, incomplete or unreadable are an error.
    """
    check_path_name("dataset.id", dataset.id)
    check_path_name("backbone.id", backbone.id)
    if backbone.column is not None:
        check_path_name("backbone.column", backbone.column)
    if source == "synthetic":
        return _standin(dataset, backbone, warning=None)
    needed, optional = _layout(dataset, backbone, data_root)
    paths = {role: _present(path) for role, path in needed.items()}
    missing = [needed[role] for role, path in paths.items() if path is None]
    if not missing:
        paths |= {role: _present(stem) for role, stem in optional.items()}
        found = {role: path for role, path in paths.items() if path is not None}
        return _files(dataset, backbone, found)
    looked_for = ", ".join(_spell(path) for path in missing)
    if source == "auto" and _has_standin(dataset, backbone) and not path_exists(data_root / dataset.id):
        warning = Finding(
            STAND_IN_USED,
            "serious",
            f"{looked_for}: not found. Using the built-in stand-in of {dataset.id} instead: "
            "these results are SYNTHETIC and say nothing about real faces.",
        )
        return _standin(dataset, backbone, warning)
    remedy = import_hint(data_root / dataset.id) or _remedy(dataset, backbone)
    raise DataError(
        f"{looked_for}: not found.{_what_is_there(data_root, dataset, backbone)} {remedy}", code="missing-file"
    )


def _layout(
    dataset: DatasetSettings, backbone: BackboneSettings, data_root: Path
) -> tuple[Mapping[str, Path], Mapping[str, Path]]:
    """Files by role, needed and optional; tables without their ending."""
    folder = data_root / dataset.id
    if backbone.column is not None:
        return {"pairs": folder / "pairs"}, {"images": folder / "images"}
    # not with_suffix: an id may contain a dot
    vectors = folder / "embeddings" / f"{backbone.id}.npz"
    return {"images": folder / "images", "pairs": folder / "pairs", "embeddings": vectors}, {}


def _present(path: Path) -> Path | None:
    """The file at ``path`` (for a table: with one of its endings), also if it is a folder or a broken link."""
    if path.suffix == ".npz":
        return path if path_exists(path) else None
    return find_table(path)


def _spell(path: Path) -> str:
    return str(path) if path.suffix == ".npz" else table_path_text(path)


def _files(dataset: DatasetSettings, backbone: BackboneSettings, paths: Mapping[str, Path]) -> LocatedData:
    files = {role: DataFile.at(path) for role, path in paths.items()}
    names = "".join(f"{role} {files[role].digest}\n" for role in sorted(files))
    digest = hashlib.sha256(names.encode()).hexdigest()

    def load() -> VerificationSet:
        from fairfr.data.neutral_layout import DatasetSpec, load_neutral, load_scores

        spec = DatasetSpec(dataset, backbone, digest)
        if backbone.column is not None:
            return load_scores(spec, files["pairs"], files.get("images"))
        return load_neutral(spec, files["images"], files["pairs"], files["embeddings"])

    return LocatedData("files", digest, None, (dataset, backbone, paths), load)


def _has_standin(dataset: DatasetSettings, backbone: BackboneSettings) -> bool:
    return dataset.standin is not None and backbone.column is None and backbone.id in dataset.standin.backbones


def _standin(dataset: DatasetSettings, backbone: BackboneSettings, warning: Finding | None) -> LocatedData:
    from fairfr.data.synthetic import generate_standin, standin_digest

    standin = dataset.standin
    if backbone.column is not None:
        raise ConfigError(
            f"source=synthetic: a column of scores ({backbone.column}) has no synthetic stand-in. "
            "Set source=files, or choose a backbone with vectors."
        )
    if standin is None:
        raise ConfigError(f"source=synthetic: dataset {dataset.id} has no synthetic stand-in. Set source=files.")
    digest = standin_digest(dataset.id, backbone.id, standin)
    return LocatedData(
        "synthetic",
        digest,
        warning,
        (dataset, backbone, {}),
        lambda: generate_standin(dataset.id, backbone.id, standin, dataset.grouping),
    )


def available_names(data_root: Path) -> dict[str, list[str]]:
    """Data sets that lie below ``data_root``, and backbones that any of them has vectors of."""
    folders = [path for path in _entries(data_root) if path.is_dir()]
    vectors: set[str] = set()
    for folder in folders:
        vectors.update(path.stem for path in _entries(folder / "embeddings") if path.suffix == ".npz")
    return {
        "dataset": [folder.name for folder in folders if PLAIN_NAME.fullmatch(folder.name)],
        "backbone": sorted(name for name in vectors if PLAIN_NAME.fullmatch(name)),
    }


def _what_is_there(data_root: Path, dataset: DatasetSettings, backbone: BackboneSettings) -> str:
    folder = data_root / dataset.id
    if not folder.is_dir():
        known = [name for name in _names(data_root) if (data_root / name).is_dir()]
        hint = did_you_mean(dataset.id, known) if known else ""
        return f" {data_root} has no folder '{dataset.id}'.{hint}"
    there = f" {folder} contains: {', '.join(_names(folder)) or 'nothing'}."
    vectors = [name.removesuffix(".npz") for name in _names(folder / "embeddings") if name.endswith(".npz")]
    if backbone.column is None and vectors and backbone.id not in vectors:
        there += f" Vectors are there for other backbones.{did_you_mean(backbone.id, vectors)}"
    return there


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return []


def _names(folder: Path) -> list[str]:
    names = [path.name for path in _entries(folder)]
    if len(names) > MAX_LISTED_NAMES:
        return [*names[:MAX_LISTED_NAMES], "..."]
    return names


def _remedy(dataset: DatasetSettings, backbone: BackboneSettings) -> str:
    remedy = (
        "Put the files there, import them (fairfr import, or scripts/import_data.py), "
        "or set data_root to where they are."
    )
    if _has_standin(dataset, backbone):
        return remedy + " Or set source=synthetic for the built-in stand-in."
    return remedy
