"""Pure functions of (same, values), and their application to groups.

The public ones, for arrays: ``auroc``, ``pauc``, ``tpr_at_fpr``, ``threshold_at_fpr``, ``brier``, ``ece``,
``log_loss``, ``ks`` and ``by_group``. A pair is accepted if its value reaches the threshold, so that equal values are
accepted together. Every pair counts once: there are no weights. Where a number is undefined (no pairs, or only one
class where both are needed), it is NaN.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any

    from fairfr.metrics.array_metrics import auroc as auroc
    from fairfr.metrics.array_metrics import brier as brier
    from fairfr.metrics.array_metrics import by_group as by_group
    from fairfr.metrics.array_metrics import ece as ece
    from fairfr.metrics.array_metrics import ks as ks
    from fairfr.metrics.array_metrics import log_loss as log_loss
    from fairfr.metrics.array_metrics import pauc as pauc
    from fairfr.metrics.array_metrics import threshold_at_fpr as threshold_at_fpr
    from fairfr.metrics.array_metrics import tpr_at_fpr as tpr_at_fpr

_PUBLIC = ("auroc", "brier", "by_group", "ece", "ks", "log_loss", "pauc", "threshold_at_fpr", "tpr_at_fpr")


def __getattr__(name: str) -> "Any":
    """Public functions are imported when they are asked for: the modules of this room do not need them."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'fairfr.metrics' has no attribute '{name}'", name=name)
    from fairfr.metrics import array_metrics

    return getattr(array_metrics, name)


def __dir__() -> list[str]:
    return list(_PUBLIC)
