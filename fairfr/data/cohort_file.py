"""A data set of images without pairs: vectors of unlabelled people beside those of the pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fairfr.core.errors import DataError
from fairfr.core.run_key import check_path_name
from fairfr.core.types import F32
from fairfr.data.embeddings_file import read_vectors
from fairfr.data.files import DataFile, path_exists
from fairfr.pairs.vectors import unit_rows


def locate_cohort(name: str, backbone: str, data_root: Path) -> DataFile:
    """The vectors of all images of a data set by one backbone; it needs neither images.csv nor pairs.csv."""
    check_path_name("cohort", name)
    path = data_root / name / "embeddings" / f"{backbone}.npz"
    if not path_exists(path):
        raise DataError(
            f"{path}: not found. cohort={name} names a folder below data_root with embeddings/{backbone}.npz, the "
            "vectors of unlabelled images by the same network.",
            code="missing-file",
        )
    return DataFile.at(path)


def read_cohort(file: DataFile) -> F32:
    """Unit vectors (m, d)."""
    raw = read_vectors(file).vectors
    return unit_rows(raw, np.arange(len(raw)))
