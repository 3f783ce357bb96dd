"""Shared by all tests: small synthetic sets, hand-made sets, and the option that rewrites golden files."""

from __future__ import annotations

import os

# workers share the cores: more threads than that only wait for each other (read when numpy is imported)
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import hypothesis
import numpy as np
import pytest
import yaml

from fairfr.core.config import from_mapping
from fairfr.core.types import EmbeddingSet, Grouping, Pairs, VerificationSet
from fairfr.data.settings import DatasetSettings
from fairfr.data.synthetic import generate_standin

CONF = Path(__file__).parents[1] / "conf"

# compiled code makes first calls slow, and a test that fails once must fail again
hypothesis.settings.register_profile("fairfr", deadline=None, derandomize=True, max_examples=60)
hypothesis.settings.load_profile("fairfr")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write tests/golden/*.json instead of comparing")


@pytest.fixture(scope="session")
def conf() -> Path:
    """The repository's conf folder."""
    return CONF


@pytest.fixture(scope="session")
def synthetic_set() -> Callable[..., VerificationSet]:
    """Makes small stand-ins: ``synthetic_set("rfw", scale=0.03)``."""
    return _synthetic_set


@cache
def _synthetic_set(dataset: str, scale: float = 0.03, backbone: str = "magface") -> VerificationSet:
    settings = from_mapping(DatasetSettings, yaml.safe_load((CONF / "dataset" / f"{dataset}.yaml").read_text()))
    assert settings.standin is not None
    return generate_standin(dataset, backbone, replace(settings.standin, scale=scale), settings.grouping)


@pytest.fixture(scope="session")
def make_set() -> Callable[..., VerificationSet]:
    """Makes sets by hand: ``make_set(vectors, left, right, same, fold)``."""
    return _make_set


def _make_set(
    vectors: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    same: np.ndarray | None = None,
    fold: np.ndarray | None = None,
) -> VerificationSet:
    n, p = len(vectors), len(left)
    fold = np.zeros(p, dtype=np.int16) if fold is None else np.asarray(fold, dtype=np.int16)
    images = np.array([f"image-{i}" for i in range(n)])
    half = Grouping("half", ("lower", "upper"), (np.arange(n) >= n / 2).astype(np.int16))
    return VerificationSet(
        id="made",
        source="files",
        backbone="net",
        digest="0",
        images=images,
        identity=np.arange(n, dtype=np.int32),
        pairs=Pairs(np.asarray(left, dtype=np.int32), np.asarray(right, dtype=np.int32)),
        same=np.arange(p) % 2 == 0 if same is None else np.asarray(same, dtype=bool),
        fold=fold,
        fold_labels=tuple(str(code) for code in range(int(fold.max()) + 1)),
        groupings={"half": half},
        grouping="half",
        embeddings=EmbeddingSet("net", "0", images, np.asarray(vectors, dtype=np.float32)),
    )
