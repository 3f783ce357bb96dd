"""Which reading of the scores a run gets where none is asked for: the paper's conventions belong to its settings."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from fairfr.core.run_result import RunResult

ReadingName: TypeAlias = Literal["paper", "strict"]

DATASETS = frozenset({"rfw", "bfw", "lfw", "lfw_degraded"})
"""The last is a stand-in, LFW under worse conditions, for the study of transfer."""
BACKBONES = frozenset(
    {
        "adaface",
        "adaface_aligned",
        "arcface_fairface",
        "arcface_original",
        "arcface_r100",
        "arcface_r100_aligned",
        "arcface_r50",
        "arcface_r50_aligned",
        "facenet",
        "facenet_casia",
        "facenet_vggface2",
        "magface",
        "sphereface",
        "vit_b",
    }
)
"""The embedding sets of the paper: every yaml in conf/backbone but ``custom`` and ``scores``."""


def usual_reading(result: RunResult) -> ReadingName:
    """The reading of a stored run: the paper's for its data sets with its backbones, strict for everything else.

    On own data the paper's conventions mislead: they set the raw score of one method beside the probability of another.
    """
    column = result.identity.get("backbone", {}).get("column")
    is_of_paper = result.dataset.id in DATASETS and result.backbone.id in BACKBONES and column is None
    return "paper" if is_of_paper else "strict"


def shared_reading(results: Iterable[RunResult]) -> ReadingName:
    """The reading of runs that are shown together: the paper's only where it is that of each."""
    readings = {usual_reading(result) for result in results}
    return "paper" if readings == {"paper"} else "strict"


def mixes_readings(results: Iterable[RunResult]) -> bool:
    """Whether some of these runs are read in another way than others."""
    return len({usual_reading(result) for result in results}) > 1
