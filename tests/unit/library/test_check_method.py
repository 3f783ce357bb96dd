"""A method that breaks a promise is told which, what came back, and where."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from fairfr.core.types import Prediction, VerificationSet
from fairfr.library.check_method import Outcome, check_method
from fairfr.library.contract_sets import small_set
from fairfr.library.method_contract import CHECKS, Subject


@dataclass
class Good:
    """The cosine, moved by what was learned: the least that keeps every promise."""

    needs: ClassVar[frozenset[str]] = frozenset()
    native_probability: ClassVar[bool] = False

    def fit(self, view: Any, same: Any, ctx: Any) -> Any:
        self.middle_ = float(view.cosine[same].mean())
        return self

    def predict(self, view: Any) -> Prediction:
        return Prediction(view.cosine - self.middle_)


class ReturnsNothing(Good):
    def fit(self, view: Any, same: Any, ctx: Any) -> Any:
        super().fit(view, same, ctx)


class Divides(Good):
    def fit(self, view: Any, same: Any, ctx: Any) -> Any:
        return 1 / 0


class Lists(Good):
    def predict(self, view: Any) -> Any:
        return view.cosine.tolist()


class Reversed(Good):
    def predict(self, view: Any) -> Prediction:
        return Prediction(-view.cosine)


class Unseeded(Good):
    def fit(self, view: Any, same: Any, ctx: Any) -> Any:
        self.middle_ = np.random.default_rng().normal()
        return self


class Noisy(Good):
    def predict(self, view: Any) -> Prediction:
        return Prediction(view.cosine + 0.01 * np.random.default_rng().normal(size=view.n_pairs))


class Ranks(Good):
    def predict(self, view: Any) -> Prediction:
        return Prediction(np.argsort(np.argsort(view.cosine)).astype(float))


class DrawsByPosition(Good):
    def fit(self, view: Any, same: Any, ctx: Any) -> Any:
        self.middle_ = float(view.cosine[ctx.rng("few").choice(view.n_pairs, 20)].mean())
        return self


class OneSided(Good):
    def predict(self, view: Any) -> Prediction:
        left, _ = view.ends(view._table.vectors)
        return Prediction(view.cosine + 0.01 * left[:, 0])


class Nosy(Good):
    def predict(self, view: Any) -> Prediction:
        codes, _ = view.ends(view._table.data.groupings["ethnicity"].codes)
        return Prediction(view.cosine + 0.01 * codes)


class AsksForGroups(Good):
    def fit(self, view: Any, same: Any, ctx: Any) -> Any:
        view.groups("ethnicity")
        return self


class Cheats(Good):
    def predict(self, view: Any) -> Prediction:
        return Prediction(view.cosine + view._table.data.same[view._rows])


class Overwrites(Good):
    def fit(self, view: Any, same: Any, ctx: Any) -> Any:
        super().fit(view, same, ctx)
        view._table.data.identity[:3] += 1
        return self


class KeepsRows(Good):
    def fit(self, view: Any, same: Any, ctx: Any) -> Any:
        self.of_image_ = np.linspace(0, 1, len(view._table.data.images))
        return self

    def predict(self, view: Any) -> Prediction:
        left, right = view.ends(self.of_image_)
        return Prediction(view.cosine + 0.01 * (left + right))


class Forgets(Good):
    """Its state has no name that ends in an underscore."""

    def fit(self, view: Any, same: Any, ctx: Any) -> Any:
        self.middle = float(view.cosine[same].mean())
        return self

    def predict(self, view: Any) -> Prediction:
        return Prediction(view.cosine - self.middle)


BROKEN: dict[type[Any], tuple[str, str]] = {
    ReturnsNothing: ("fits", "end it with 'return self'"),
    Divides: ("fits", "ZeroDivisionError: division by zero"),
    AsksForGroups: ("fits", "asked for groups\\('ethnicity'\\) but declares needs="),
    Lists: ("predicts", "Return a Prediction"),
    Reversed: ("ranks", "is its sign wrong"),
    Unseeded: ("repeats", "ctx.rng\\('purpose'\\)"),
    Noisy: ("predicts_again", "297 of 297 pairs get another score"),
    Ranks: ("ignores_other_pairs", "no ranks"),
    DrawsByPosition: ("ignores_the_order", "order_by_id"),
    OneSided: ("is_symmetric", "symmetric: ClassVar"),
    Nosy: ("needs_what_it_declares", "List in needs what it uses"),
    Cheats: ("sees_no_labels", "no other labels count"),
    Overwrites: ("fits", "read-only. .* work on a copy"),
    KeepsRows: ("leaves_its_table", "row numbers or codes|index 0 is out of bounds|IndexError"),
    Forgets: ("is_saved", "cannot predict without middle, .* end in '_' are: middle_"),
}


@pytest.fixture(scope="module")
def data() -> VerificationSet:
    return small_set()


def outcomes(cls: type[Any], data: VerificationSet) -> dict[str, Outcome]:
    return {outcome.check: outcome for outcome in check_method(Subject(cls, data))}


def test_a_method_that_keeps_every_promise_is_told_so(data: VerificationSet) -> None:
    found = outcomes(Good, data)
    assert {outcome.status for outcome in found.values()} == {"kept"}
    assert list(found) == [check.__name__ for check in CHECKS]


@pytest.mark.parametrize("cls", BROKEN, ids=lambda cls: cls.__name__)
def test_a_broken_promise_is_named_with_what_to_change(cls: type[Any], data: VerificationSet) -> None:
    check, said = BROKEN[cls]
    found = outcomes(cls, data)[check]
    assert found.status == "broken"
    assert re.search(said, found.message), found.message


def test_an_error_is_named_with_its_line_and_ends_the_trial(data: VerificationSet) -> None:
    found = outcomes(Divides, data)
    assert found["fits"].where.startswith("test_check_method.py, line ")
    assert found["fits"].where.endswith("in fit")
    assert {found[check.__name__].status for check in CHECKS[2:]} == {"not tried"}
