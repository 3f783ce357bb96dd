from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fairfr.core.errors import DataError
from fairfr.faces.alignment import read_landmarks

POINTS = np.arange(10.0).reshape(5, 2) ** 2
NUMBERS = [f"{number:g}" for number in POINTS.ravel()]
HEADER = "image," + ",".join(f"{axis}{i}" for i in range(1, 6) for axis in "xy")


@pytest.mark.parametrize(
    "text",
    [
        HEADER + "\n" + ",".join(["b/a.jpg", *NUMBERS]) + "\n",
        ",".join(["b/a.jpg", *NUMBERS]),
        "\ufeff" + ",".join(["b/a.jpg", *NUMBERS]),
        "\t".join(["/data/b/a.jpg", "7", *NUMBERS]) + "\r\n",
        " ".join(["./b/a.jpg", *NUMBERS]) + "\n\n",
        ",".join(["C:\\x\\b\\a.jpg", *NUMBERS]),
    ],
)
def test_layouts(tmp_path: Path, text: str) -> None:
    path = tmp_path / "lmk.txt"
    path.write_text(text, encoding="utf-8", newline="")
    np.testing.assert_array_equal(read_landmarks(path).of("b/a.jpg"), POINTS)


def test_names_with_spaces_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "lmk.csv"
    path.write_text(",".join(['"my face, 1.jpg"', *NUMBERS]))
    np.testing.assert_array_equal(read_landmarks(path).of("my face, 1.jpg"), POINTS)


def test_several_files_and_endings_that_fit_twice(tmp_path: Path) -> None:
    one, two = tmp_path / "Asian_lmk.txt", tmp_path / "Indian_lmk.txt"
    one.write_text(" ".join(["/d/Asian/p/p_0001.jpg", *NUMBERS]))
    two.write_text(" ".join(["/d/Indian/p/p_0001.jpg", *NUMBERS[::-1]]))
    marks = read_landmarks(one, two)
    assert marks.of("Indian/p/p_0001.jpg")[0, 0] == POINTS[-1, -1]
    with pytest.raises(DataError, match="could be"):
        marks.of("p/p_0001.jpg")
    with pytest.raises(DataError, match="no landmarks for 'q"):
        marks.of("q.jpg")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no landmarks"),
        (HEADER, "no landmarks"),
        (",".join(["a", *NUMBERS[:9]]), "line 1"),
        (HEADER + "\n" + ",".join(["a", *NUMBERS[:9], "x"]), "line 2"),
        ("\n".join([",".join(["a", *NUMBERS])] * 2), "line 2: 'a' has landmarks already"),
        (",".join(["a", *["5"] * 10]), "are one"),
        (",".join(["a", *["nan"] * 10]), "not finite"),
        (" ".join(["my", "face.jpg", "1", *NUMBERS]), "need csv"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "lmk.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=words):
        read_landmarks(path)


def test_not_text(tmp_path: Path) -> None:
    path = tmp_path / "lmk.csv"
    path.write_bytes(b"\xff\xfe\x00a")
    with pytest.raises(DataError, match="UTF-8"):
        read_landmarks(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_landmarks(tmp_path)
