"""Parameters by name, and what sets a run apart."""

from __future__ import annotations

from typing import Any

import pytest

from fairfr.core.run_key import changed_parameters, flatten, shared_parameters, variant_label, variant_text


def test_nested_keys_become_dotted_ones() -> None:
    nested = {"method": {"id": "a", "estimator": {"k": 1, "range": (0, 1)}}, "seed": 0}
    assert flatten(nested) == {"method.id": "a", "method.estimator.k": 1, "method.estimator.range": [0, 1], "seed": 0}


def test_only_parameters_differ_not_the_place() -> None:
    defaults = {"method.id": "a", "dataset.id": "x", "seed": 0, "method.estimator.k": 20}
    assert changed_parameters(defaults, defaults) == {}
    assert changed_parameters({**defaults, "method.id": "b", "dataset.id": "y"}, defaults) == {}
    assert changed_parameters({**defaults, "seed": 1, "new": None}, defaults) == {"seed": 1, "new": None}


def test_another_protocol_is_a_difference_and_so_are_its_changed_parameters() -> None:
    mine = {"protocol.id": "mine", "protocol.splitter._target_": "c.D", "protocol.splitter.n": 3, "seed": 0}
    assert changed_parameters(mine, mine) == {"protocol": "mine"}
    changed = mine | {"protocol.splitter.n": 5, "seed": 1}
    assert changed_parameters(changed, mine) == {"protocol": "mine", "protocol.splitter.n": 5, "seed": 1}
    published = {"protocol.id": "published", "seed": 0}
    assert changed_parameters(published, published) == {}


@pytest.mark.parametrize(
    ("differs", "text"),
    [
        ({}, ""),
        ({"method.estimator.k": 500}, "k=500"),
        ({"method.estimator.alpha": 1e6, "seed": 1}, "alpha=1e+06, seed=1"),
        (
            {"dataset.grouping": ["a", "b"], "method.estimator.self_neighbour": False},
            "grouping=[a,b], self_neighbour=false",
        ),
        ({"method.estimator.max_references": None, "protocol": "mine"}, "max_references=null, protocol=mine"),
    ],
)
def test_a_variant_is_named_as_it_is_typed(differs: dict[str, Any], text: str) -> None:
    assert variant_text(differs) == text
    assert variant_label("M", differs) == (f"M ({text})" if text else "M")


def test_endless_values_are_shortened_and_stay_different() -> None:
    texts = [variant_text({"method.estimator._target_": ".".join("a" * parts)}) for parts in (3000, 3001)]
    assert texts[0] != texts[1] and all(text.startswith("_target_=a.a.a") and len(text) < 100 for text in texts)
    assert len(variant_text({"x" * 30_000: 1, "seed": 1})) < 100


def test_common_is_what_all_share() -> None:
    assert shared_parameters([{"a": 1, "b": 2}, {"a": 1, "b": 3}, {"a": 1}]) == {"a": 1}
    assert shared_parameters([]) == {}
