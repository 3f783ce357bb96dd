"""Images that a fitted model has met nothing like: counted, and warned of, where its method can tell."""

from __future__ import annotations

from typing import NamedTuple

USUAL = 0.02
"""Of images like those of training about so many are counted."""
MOST = 0.05
"""Above this share of the images a prediction warns."""
FEWEST = 50
"""With fewer images their share says little."""


class Unlike(NamedTuple):
    """``unlike`` of ``images``: those whose cosines to the cohort are outside those of training."""

    unlike: int
    images: int

    @property
    def share(self) -> float:
        return self.unlike / max(self.images, 1)

    @property
    def is_too_many(self) -> bool:
        return self.images >= FEWEST and self.share > MOST

    def plus(self, other: Unlike) -> Unlike:
        return Unlike(self.unlike + other.unlike, self.images + other.images)

    def text(self) -> str:
        return f"{self.unlike:,} of {self.images:,} images ({self.share:.1%}) are unlike those of training"

    def warning(self, name: str) -> str:
        """With what may follow, and what to do; ``name`` is the model's."""
        return (
            f"{self.text()}, where {USUAL:.0%} is usual. If a group of people is missing from the cohort of {name}, "
            "false matches inside it are many times more frequent. Fit it again with unlabelled images of these people "
            "in the cohort, or use Beta (docs/lab/beyond.md)."
        )
