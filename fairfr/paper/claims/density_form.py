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
        if self.with_self < self.without:
            return "self"
        return "LOO"

    def __str__(self) -> str:
        text = f"{setting_name(self.setting)} {self.with_self:.3f}, {self.without:.3f}"
        if self.far:
            text += " (far)"
        return text


def _compare(numbers: Numbers, quantity: Quantity, setting: Setting) -> FormDistance | None:
    """None where one of the forms has no run."""
    printed = _PRINTED.value(quantity, *setting, DENSITY.id)
    with_self = numbers.value(quantity, *setting, DENSITY.id)
    without = numbers.value(quantity, *setting, DENSITY_LOO.id)
    if printed is None or with_self is None or without is None:
        return None
    of_self = round(abs(with_self - printed), DIGITS)
    of_loo = round(abs(without - printed), DIGITS)
    tolerance = TOLERANCE[quantity]
    if quantity.group == LIFTED:
        tolerance /= GROUPS_OF[setting[0]]  # the tolerance of K/N is in groups
    return FormDistance(setting, of_self, of_loo, min(of_self, of_loo) > tolerance + _ROUNDING)


def _form_of(quantity: Quantity, numbers: Numbers) -> Verdict:
    """Holds if every column that tells the two apart is nearer to the form of the text, and near enough to count."""
    if numbers.exact:
        raise MissingNumberError("one AC-Density is printed: only runs of both forms can tell")
    by_form: dict[str, list[FormDistance]] = {form: [] for form in _HEAD}
    for setting in HEADLINE:
        distance = _compare(numbers, quantity, setting)
        if distance is not None:
            by_form[distance.form].append(distance)
    said = []
    for form, distances in by_form.items():
        if distances:
            said.append(f"{_HEAD[form]}: {'; '.join(map(str, distances))}")
    if not said:
        raise MissingNumberError(f"{numbers.absent}: {quantity.label} of both forms of AC-Density in one column")
    n_self = sum(not distance.far for distance in by_form["self"])
    n_loo = sum(not distance.far for distance in by_form["LOO"])
    status: Status = "undetermined"
    if n_self and not n_loo:
        status = "holds"
    elif n_loo and not n_self:
        status = "does not hold"
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
