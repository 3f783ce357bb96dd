"""Metric names: each that MLflow accepts, and each a different one."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from fairfr.store.mlflow.names import metric_name

ACCEPTED = re.compile(r"[/\w.\- ]+")  # by MLflow, of every version and on every system


def test_no_group_takes_the_place_of_another() -> None:
    groups = ["a/b", "a_b", "a.x2f.b", "..", "a b", "worst", "x" * 300 + "a", "x" * 300 + "b"]
    named = [metric_name("group", "paper", "auroc", group) for group in groups]
    assert len(set(named)) == len(groups) and named[1] == "group/paper/auroc/a_b"
    for name in named:
        assert ACCEPTED.fullmatch(name) and len(name) <= 250 and ".." not in name.split("/"), name
        assert name.startswith("group/paper/auroc/") and name.count("/") == 3


@given(st.text(min_size=1, max_size=20))
@example("a.x2f.b")
@example("./x")
def test_the_spelling_of_a_name_can_be_read_back(name: str) -> None:
    spelled = metric_name(name)
    assert ACCEPTED.fullmatch(spelled) and "/" not in spelled and spelled.strip(".")
    assert re.sub(r"\.x([0-9a-f]+)\.", lambda found: chr(int(found[1], 16)), spelled) == name
