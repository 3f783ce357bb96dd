"""What an image's nearest strangers look like: mean and spread of its highest cosines to a cohort."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from fairfr.core.serialization import serializable
from fairfr.core.types import F32, F64, Bool
from fairfr.pairs.parallel import single_thread_blas

Statistics: TypeAlias = tuple[F64, F64]
"""Mean and ln sd of each image's highest cosines, (n,) each."""

BLOCK = 1024  # images at a time, so that their cosines to the cohort stay small
SPARE = 1e-9
# sampling variance of the mean (in units of sd^2) and of ln sd of the top 2 % of a normal sample, times their number
NOISE_OF_MEAN, NOISE_OF_LOG_SD = 2.15, 1.22
OUTER = 0.005
"""Training images beyond these quantiles at either end, of mean or of ln sd, are the odd ones: about 2 %."""


def number_of(m: int, share: float) -> int:
    """How many of ``m`` cosines count: a share of them, since a fixed number would mean more of a smaller cohort."""
    return min(m, max(2, round(share * m)))


def top_of(cosine: F64, share: float) -> Statistics:
    """Of the largest ``share`` of each row of ``cosine`` (n, m), at least two."""
    k = number_of(cosine.shape[1], share)
    top = np.partition(cosine, cosine.shape[1] - k, axis=1)[:, -k:]
    return top.mean(axis=1), np.log(top.std(axis=1) + SPARE)


def meet(images: F32, cohort: F32, share: float) -> Statistics:
    """Of the cosines of each image (n, d) to the cohort (m, d)."""
    wide = cohort.astype(np.float64).T
    mean, log_sd = np.empty(len(images)), np.empty(len(images))
    with single_thread_blas():
        for start in range(0, len(images), BLOCK):
            part = slice(start, start + BLOCK)
            mean[part], log_sd[part] = top_of(images[part].astype(np.float64) @ wide, share)
    return mean, log_sd


def reliability(mean: F64, log_sd: F64, k: float) -> tuple[float, float]:
    """How much of the variance of both statistics (n,) between images is not sampling noise, 0 to 1 each.

    ``k`` is how many cosines they rest on.
    """
    noise_of_mean = NOISE_OF_MEAN * float(np.exp(2 * log_sd).mean()) / k
    return _not_noise(mean, noise_of_mean), _not_noise(log_sd, NOISE_OF_LOG_SD / k)


def _not_noise(values: F64, noise: float) -> float:
    variance = float(values.var())
    if values.max() == values.min() or variance == 0:
        return 0.0
    return max(0.0, 1 - noise / variance)


@serializable("TrainingStatistics")
@dataclass(frozen=True, slots=True)
class TrainingStatistics:
    """Means over the training images, towards which all are shrunk; the lowest mean; and where training images lie."""

    mean: float
    log_sd: float
    reliability_mean: float
    reliability_log_sd: float
    floor: float
    mean_range: tuple[float, float]
    log_sd_range: tuple[float, float]

    @classmethod
    def of(cls, found: Statistics, kept: tuple[float, float], floor: float) -> TrainingStatistics:
        """``kept`` are their reliabilities; ``floor`` is a quantile, 0 for no floor."""
        mean, log_sd = found
        centre = float(mean.mean())
        lowest = -np.inf
        if floor > 0:
            lowest = float(np.quantile(centre + kept[0] * (mean - centre), floor))
        return cls(centre, float(log_sd.mean()), *kept, lowest, _usual(mean), _usual(log_sd))

    def shrunk(self, found: Statistics) -> tuple[F64, F64]:
        """Mean and sd of the highest cosines as they are used: shrunk, and the mean not below the floor."""
        mean = self.mean + self.reliability_mean * (found[0] - self.mean)
        log_sd = self.log_sd + self.reliability_log_sd * (found[1] - self.log_sd)
        return np.maximum(mean, self.floor), np.exp(log_sd)

    def outside(self, found: Statistics) -> Bool:
        """Which images (n,) are not like those of training."""
        out = np.zeros(len(found[0]), dtype=bool)
        for values, (low, high) in zip(found, (self.mean_range, self.log_sd_range), strict=True):
            out |= (values < low) | (values > high)
        return out


def _usual(values: F64) -> tuple[float, float]:
    return float(np.quantile(values, OUTER)), float(np.quantile(values, 1 - OUTER))
