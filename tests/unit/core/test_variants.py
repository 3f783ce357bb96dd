"""Parameters by name, and what sets a run apart."""

from __future__ import annotations

from fairfr.core.variants import common, differences, flatten


def test_nested_keys_become_dotted_ones() -> None:
    nested = {"method": {"id": "a", "estimator": {"k": 1, "range": (0, 1)}}, "seed": 0}
    assert flatten(nested) == {"method.id": "a", "method.estimator.k": 1, "method.estimator.range": [0, 1], "seed": 0}


def test_only_parameters_differ_not_the_place() -> None:
    defaults = {"method.id": "a", "dataset.id": "x", "seed": 0, "method.estimator.k": 20}
    assert differences(defaults, defaults) == {}
    assert differences({**defaults, "method.id": "b", "dataset.id": "y"}, defaults) == {}
    assert differences({**defaults, "seed": 1, "new": None}, defaults) == {"seed": 1, "new": None}


def test_another_protocol_is_a_difference_and_so_are_its_changed_parameters() -> None:
    mine = {"protocol.id": "mine", "protocol.splitter._target_": "c.D", "protocol.splitter.n": 3, "seed": 0}
    assert differences(mine, mine) == {"protocol": "mine"}
    changed = mine | {"protocol.splitter.n": 5, "seed": 1}
    assert differences(changed, mine) == {"protocol": "mine", "protocol.splitter.n": 5, "seed": 1}
    published = {"protocol.id": "published", "seed": 0}
    assert differences(published, published) == {}


def test_common_is_what_all_share() -> None:
    assert common([{"a": 1, "b": 2}, {"a": 1, "b": 3}, {"a": 1}]) == {"a": 1}
    assert common([]) == {}
