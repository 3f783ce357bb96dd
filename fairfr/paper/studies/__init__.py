"""The studies: one file for each, which makes its table, its figure and the numbers that claims are judged by."""

from fairfr.paper.studies import (
    attributes,
    calibration_size,
    components,
    coverage,
    lfw_accuracy,
    low_fpr,
    split,
    transfer,
)
from fairfr.report.study import Study

STUDIES: tuple[Study, ...] = (
    attributes.STUDY,
    calibration_size.STUDY,
    components.STUDY,
    coverage.STUDY,
    lfw_accuracy.STUDY,
    low_fpr.STUDY,
    split.STUDY,
    transfer.STUDY,
)
"""In the order of their tables."""
