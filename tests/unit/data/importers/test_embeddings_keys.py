"""Which image a key means, by hand-worked cases from the files that are around."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairfr.data.importers.embeddings import (
    AMBIGUOUS,
    EXACT,
    HOW,
    PADDING,
    SUFFIX,
    UNMATCHED,
    match_keys,
    normalised,
)

RFW = (
    "African/m.01/m.01_0001.jpg",
    "African/m.01/m.01_0012.jpg",
    "Asian/m.01/m.01_0001.jpg",
    "Asian/m.02/m.02_0003.jpg",
)
BFW = ("asian_females/n000009/0010_01.jpg", "white_males/n000100/0010_01.jpg", "white_males/n000100/0010_02.jpg")


@pytest.mark.parametrize(
    ("images", "key", "row", "how"),
    [
        (RFW, "African/m.01/m.01_0001.jpg", 0, EXACT),
        (RFW, "rfw/data/African_cropped/m.01/m.01_0001.jpg", 0, EXACT),
        (RFW, "data/rfw/data/Asian/m.01/m.01_0001.jpg", 2, EXACT),
        (RFW, "/home/me/data/rfw/data/Asian/m.01/m.01_0001.png", 2, EXACT),
        (RFW, ".\\African\\m.01\\m.01_0001.JPEG", 0, EXACT),
        (RFW, "./Asian//m.02/m.02_0003.npy", 3, EXACT),
        (RFW, "rfw/data/African/m.01/m.01_00012.jpg", 1, PADDING),
        (RFW, "African/m.01/m.01_12.jpg", 1, PADDING),
        (RFW, "m.01_12.jpg", 1, PADDING),
        (RFW, "elsewhere/Asian/m.02/m.02_0003.jpg", 3, SUFFIX),
        (RFW, "m.02/m.02_0003", 3, SUFFIX),
        (RFW, "m.02_0003", 3, SUFFIX),
        (RFW, "m.01_0001.jpg", -1, AMBIGUOUS),
        (RFW, "m.01/m.01_0001.jpg", -1, AMBIGUOUS),
        (RFW, "m.01_1.jpg", -1, AMBIGUOUS),
        (RFW, "Indian/m.01/m.01_0001.jpg", -1, UNMATCHED),
        (RFW, "African/m.01/m.01_0002.jpg", -1, UNMATCHED),
        (RFW, "African/xm.01/m.01_0001.jpg", -1, UNMATCHED),
        (RFW, "", -1, UNMATCHED),
        (BFW, "data/bfw/bfw-cropped-aligned/asian_females/n000009/0010_01.jpg", 0, EXACT),
        (BFW, "asian_females/n000009/0010_01.npy", 0, EXACT),
        (BFW, "0010_01.jpg", -1, AMBIGUOUS),
        (BFW, "n000100/0010_01.jpg", 1, SUFFIX),
        (BFW, "black_males/n000200/0010_02.jpg", -1, UNMATCHED),
        (("x/a_1.jpg", "x/a_01.jpg"), "x/a_001.jpg", -1, AMBIGUOUS),
        (("x/a_1.jpg", "x/a_01.jpg"), "x/a_01.png", 1, EXACT),
        (("x/a.jpg", "x/a.png"), "x/a.png", 1, EXACT),
        (("x/a.jpg", "x/a.png"), "x/a.npy", -1, AMBIGUOUS),
        (("b/c.jpg", "c.jpg"), "a/b/c.jpg", 0, SUFFIX),
        (("rfw/data/African/p/p_0001.jpg",), "African_cropped/p/p_0001", 0, EXACT),
    ],
)
def test_key_means_image(images: tuple[str, ...], key: str, row: int, how: int) -> None:
    found = match_keys([key], images)
    assert (int(found.row[0]), HOW[found.how[0]]) == (row, HOW[how])


def test_paths_that_share_only_their_end_are_not_guessed() -> None:
    found = match_keys(["crops/anna/1.npy"], ("faces/anna/1.jpg", "faces/otto/2.jpg"))
    assert found.row.tolist() == [-1] and HOW[found.how[0]] == "unmatched"


def test_what_was_left_out_of_a_suffix_is_said_too() -> None:
    assert "left out: 'far/' of keys (1)" in match_keys(["far/" + RFW[3]], RFW).report()


def test_report_counts_and_names() -> None:
    keys = [RFW[0], "far/" + RFW[3], "m.01_12", "m.01_0001", *(f"gone{i}" for i in range(7))]
    text = match_keys(keys, RFW).report()
    for part in ("1 exact", "1 by suffix", "1 by zero-padding", "1 ambiguous", "7 unmatched"):
        assert part in text
    assert "ambiguous: m.01_0001" in text
    assert "gone0, gone1, gone2, gone3, gone4, ..." in text
    assert "gone5" not in text


@given(st.lists(st.text("ab/._0\\1", min_size=1, max_size=12), min_size=1, max_size=8, unique=True))
def test_ids_as_keys_mean_themselves(images: list[str]) -> None:
    np.testing.assert_array_equal(match_keys(images, images).row, np.arange(len(images)))


@given(st.text(max_size=30))
def test_normalising_never_fails(key: str) -> None:
    assert not normalised(key).startswith(("./", "/"))
