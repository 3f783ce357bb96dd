"""Which AC-Density the paper prints: with a training pair among its own neighbours, as its text says, or without.

A column speaks for the form that it is nearer to, if that form comes within the tolerance of a comparison with the
paper; else both are far from it, which is said, and it does not count.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from fairfr.paper.claims.claim import Claim, Status, Verdict, setting_name
from fairfr.paper.claims.groups import GROUPS_OF
from fairfr.paper.comparison import TOLERANCE
from fairfr.paper.numbers import MissingNumberError, Numbers, PrintedNumbers
from fairfr.paper.order import DENSITY, DENSITY_LOO, HEADLINE
from fairfr.paper.printed import QUANTITIES, TABLE_NAMES
from fairfr.report.quantity import LIFTED, Quantity
from fairfr.report.tables.order import Setting

DIGITS = 3
_ROUNDING = 1e-9
_PRINTED = PrintedNumbers()


class FormDistance(NamedTuple):
    """How far the two forms are from a printed value, and which is nearer; ``far``: neither is near it."""

    setting: Setting
    with_self: float
    without: float
    far: bool

    @property
    def form(self) -> str:
        if self.with_self == self.without:
            return "equal"
        return "self" if self.with_self < self.without else "LOO"

    def __str__(self) -> str:
        return f"{setting_name(self.setting)} {self.with_self:.3f}, {self.without:.3f}{' (far)' if self.far else ''}"


def _compare(numbers: Numbers, quantity: Quantity, setting: Setting) -> FormDistance | None:
    """None where one of the forms has no run."""
    printed = _PRINTED.value(quantity, *setting, DENSITY.id)
    ours = [numbers.value(quantity, *setting, row.id) for row in (DENSITY, DENSITY_LOO)]
    if printed is None or ours[0] is None or ours[1] is None:
        return None
    distances = [round(abs(value - printed), DIGITS) for value in ours if value is not None]
    # the tolerance of K/N is in groups
    tolerance = TOLERANCE[quantity] / (GROUPS_OF[setting[0]] if quantity.group == LIFTED else 1)
    return FormDistance(setting, distances[0], distances[1], min(distances) > tolerance + _ROUNDING)


def _form_of(quantity: Quantity, numbers: Numbers) -> Verdict:
    """Holds if every column that tells the two apart is nearer to the form of the text, and near enough to count."""
    if numbers.exact:
        raise MissingNumberError("one AC-Density is printed: only runs of both forms can tell")
    compared = [_compare(numbers, quantity, setting) for setting in HEADLINE]
    columns = [near for near in compared if near is not None]
    if not columns:
        raise MissingNumberError(f"{numbers.absent}: {quantity.label} of both forms of AC-Density in one column")
    by_form = {form: [near for near in columns if near.form == form] for form in ("self", "LOO", "equal")}
    said = [f"{_HEAD[form]}: {'; '.join(map(str, where))}" for form, where in by_form.items() if where]
    n_self, n_loo = (sum(not near.far for near in by_form[form]) for form in ("self", "LOO"))
    decided = bool(n_self) != bool(n_loo)
    status: Status = "undetermined" if not decided else "holds" if n_self else "does not hold"
    return Verdict(status, f"distances of self, LOO. {'. '.join(said)}", n_self - n_loo)


_HEAD = {"self": "Nearer to self", "LOO": "Nearer to LOO", "equal": "Equal"}
CLAIMS = tuple(
    Claim(
        f"density-form-{quantity.metric}-{quantity.group}",
        f"Method, local density; {TABLE_NAMES[quantity]}",
        f"{quantity.label}: the printed AC-Density is the form of the text, which counts a training pair among its own "
        "neighbours",
        partial(_form_of, quantity),
        figure="columns near self minus columns near LOO",
    )
    for quantity in QUANTITIES.values()
)
