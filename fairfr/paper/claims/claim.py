"""A claim of the paper, and the arithmetic that several claims share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from fairfr.paper.numbers import Numbers
from fairfr.paper.order import (
    ADAPTIVE,
    GROUP_AWARE_IDS,
    HEADLINE,
    PAPER_ROWS,
    ROWS,
    SCORE_ONLY,
    setting_name,
)
from fairfr.paper.printed import printed_headline
from fairfr.report.quantity import Quantity
from fairfr.stored.order import Setting

Status: TypeAlias = Literal["holds", "does not hold", "undetermined"]
LABEL = {row.id: row.label for row in (*ROWS, *SCORE_ONLY)}
CONTEXT = ("ac_linear", "ac_density")
AC = tuple(row.id for row in ADAPTIVE if row in PAPER_ROWS)


class Verdict(NamedTuple):
    """What the numbers say about a claim, and the numbers. ``figure``: the one that decides, if it is one.

    ``lacks_numbers``: it is undetermined because one that it needs does not exist.
    """

    status: Status
    detail: str
    figure: float | None = None
    lacks_numbers: bool = False


Check: TypeAlias = Callable[[Numbers], Verdict]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of the paper in short words, where it is printed, and the check that judges it on any numbers.

    ``arithmetic``: about figures of the text alone, so that runs have no say in it. ``figure``: what the deciding
    figure of its verdicts is, in words.
    """

    id: str
    where: str
    words: str
    check: Check
    arithmetic: bool = False
    figure: str = ""


class Part:
    """What one part of the paper claims, in the order in which it is declared: each a function below ``claim``."""

    def __init__(self, heading: str) -> None:
        self.heading = heading
        self.claims: list[Claim] = []

    def claim(
        self, id: str, where: str, words: str, *, arithmetic: bool = False, figure: str = ""
    ) -> Callable[[Check], Check]:
        """Declare the function to be the check of a claim."""

        def declare(check: Check) -> Check:
            self.claims.append(Claim(id, where, words, check, arithmetic, figure))
            return check

        return declare


def verdict(holds: bool, detail: str, figure: float | None = None) -> Verdict:
    """Holds or does not."""
    status: Status = "does not hold"
    if holds:
        status = "holds"
    return Verdict(status, detail, figure)


@cache
def label_free_methods(quantity: Quantity) -> tuple[str, ...]:
    """The label-free methods that the paper's table of a quantity has."""
    printed = {p.method for p in printed_headline() if p.quantity == quantity}
    return tuple(row.id for row in PAPER_ROWS if row.id in printed and row.id not in GROUP_AWARE_IDS)


def winners(numbers: Numbers, quantity: Quantity, setting: Setting) -> tuple[set[str], float]:
    """The best label-free methods of a column, ties included, and their value."""
    values = {m: numbers.required(quantity, setting, m) for m in label_free_methods(quantity)}
    choose = max if quantity.higher_is_better else min
    best = choose(values.values())
    return {m for m, value in values.items() if value == best}, best


def column_winners(numbers: Numbers, quantity: Quantity) -> dict[Setting, set[str]]:
    """The best label-free methods of every headline column."""
    return {setting: winners(numbers, quantity, setting)[0] for setting in HEADLINE}


def mean_over_settings(numbers: Numbers, quantity: Quantity, method: str) -> float:
    """Over the nine headline columns."""
    return sum(numbers.required(quantity, setting, method) for setting in HEADLINE) / len(HEADLINE)


def compare_means(numbers: Numbers, quantity: Quantity, said: dict[str, float]) -> Verdict:
    """The first method's mean must be the best of all label-free ones; the figure is its lead over the next.

    The paper's own tables must also give the figures that its text states.
    """
    means = {method: mean_over_settings(numbers, quantity, method) for method in label_free_methods(quantity)}
    ranking = sorted(means, key=means.__getitem__, reverse=bool(quantity.higher_is_better))
    stated = all(f"{means[method]:.3f}" == f"{value:.3f}" for method, value in said.items())
    first = next(iter(said))
    ahead = means[first] == means[ranking[0]]
    shown = [method for method in ranking if method in said or method == ranking[0]]
    rival = next(method for method in ranking if method != first)
    lead = means[first] - means[rival]
    if not quantity.higher_is_better:
        lead = -lead
    detail = ", ".join(f"{LABEL[m]} {means[m]:.4f}" for m in shown)
    return verdict(ahead and (stated or not numbers.exact), detail, lead)


def setting_names(settings: Iterable[Setting]) -> str:
    """Columns, or a word for none."""
    return ", ".join(setting_name(setting) for setting in settings) or "none"


def method_labels(methods: Iterable[str]) -> str:
    """Methods in the paper's order."""
    chosen = set(methods)
    return " and ".join(LABEL[row.id] for row in ROWS if row.id in chosen)
