"""Numbers, lists and errors inside a sentence."""

from __future__ import annotations

import re

import pytest

from fairfr.core.text import error_summary, plural, shorten_list, slug


def test_numbers_are_easy_to_read() -> None:
    found = [plural(number, "pair") for number in (0, 1, 999, 1000, 1234567)]
    assert found == ["0 pairs", "1 pair", "999 pairs", "1,000 pairs", "1,234,567 pairs"]


def test_long_lists_end_in_dots() -> None:
    assert shorten_list(["a", "b"], 2) == "a, b"
    assert shorten_list(["a", "b", "c"], 2, "; ") == "a; b; ..."
    assert shorten_list([], 2) == ""


@pytest.mark.parametrize(("text", "line"), [("one\ntwo", "one"), ("", "ValueError"), ("x" * 200, "x" * 160)])
def test_errors_of_others_take_one_short_line(text: str, line: str) -> None:
    assert error_summary(ValueError(text)) == line


def test_slugs_are_plain_and_differ_where_the_texts_do() -> None:
    texts = ["my_set-1", "my%set", "my#set", "50%", "}\\input{/etc/passwd", "a.b", "a_b", "\u96c6", "\u5408", "\ud800"]
    slugs = [slug(text) for text in texts]
    assert slugs[0] == "my_set-1" and slugs[6] == "a_b"
    assert all(re.fullmatch("[A-Za-z0-9_-]+", name) for name in slugs)
    assert len(set(slugs)) == len(texts)
