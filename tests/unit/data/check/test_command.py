"""``check`` on small sets whose answers can be counted by hand."""

from __future__ import annotations

import argparse
import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fairfr.commands.check import main as check_main
from fairfr.core.errors import ConfigError, DataError
from fairfr.data.check import command

Change = Callable[[pd.DataFrame, pd.DataFrame, dict[str, np.ndarray]], None]


def _images() -> pd.DataFrame:
    """Sixteen images of eight people: a* asian in fold 0 and 1, w* white; two images of each person."""
    rows = [
        (f"{who}{number}", who, group)
        for group, people in (("asian", "a0 a1 a2 a3"), ("white", "w0 w1 w2 w3"))
        for who in people.split()
        for number in (1, 2)
    ]
    return pd.DataFrame(rows, columns=["image", "identity", "ethnicity"])


def _pairs() -> pd.DataFrame:
    """Folds of disjoint people; in each fold and group two same and two different pairs, and one mixed pair."""
    rows = []
    for fold, (first, second) in enumerate(((0, 1), (2, 3))):
        for group in "aw":
            one, two = f"{group}{first}", f"{group}{second}"
            rows += [(fold, f"{one}1", f"{one}2", 1), (fold, f"{two}1", f"{two}2", 1)]
            rows += [(fold, f"{one}1", f"{two}1", 0), (fold, f"{one}2", f"{two}2", 0)]
        rows.append((fold, f"a{first}1", f"w{first}1", 0))
    return pd.DataFrame(rows, columns=["fold", "left", "right", "same"])


def _vectors(images: pd.DataFrame) -> dict[str, np.ndarray]:
    """One direction for each person, a little of a second: cosine 1 / (1 + 0.25) inside a person, else 0."""
    vectors = {}
    for row, (image, who) in enumerate(zip(images["image"], images["identity"], strict=True)):
        vector = np.zeros(8 + len(images), dtype=np.float32)
        vector[sorted(set(images["identity"])).index(who)] = 1
        vector[8 + row] = 0.5
        vectors[image] = vector
    return vectors


@pytest.fixture
def written(tmp_path: Path) -> Callable[..., Path]:
    """Writes the set, changed as asked, and returns the data root."""

    def write(change: Change | None = None) -> Path:
        images, pairs = _images(), _pairs()
        vectors = _vectors(images)
        if change is not None:
            change(images, pairs, vectors)
        folder = tmp_path / "mine"
        (folder / "embeddings").mkdir(parents=True)
        images.to_csv(folder / "images.csv", index=False)
        pairs.to_csv(folder / "pairs.csv", index=False)
        stored = {"image": np.array(list(vectors)), "vectors": np.array(list(vectors.values()))}
        np.savez(folder / "embeddings" / "net.npz", **stored)
        return tmp_path

    return write


def _arguments(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(words)


def page(root: Path, *options: str) -> str:
    words = ["--dataset", "mine", "--data-root", str(root), "--min-pairs", "4", "--grouping", "ethnicity", *options]
    return command.check(_arguments(*words))[0]


def as_object(root: Path, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page(root, *options, "--json"))
    return found


def codes(found: dict[str, Any]) -> set[str]:
    return {finding["code"] for finding in found["findings"]}


FEW = {"few-false-matches", "few-false-matches-in-group"}


def test_counts_of_a_clean_set(written: Callable[..., Path]) -> None:
    found = as_object(written(), "--backbone", "net", "--grouping", "ethnicity")
    assert found["version"] == 1
    assert found["counts"] == {
        "images": 16,
        "images_without_identity": 0,
        "identities": 8,
        "pairs": 18,
        "same": 8,
        "different": 10,
        "folds": 2,
        "pairs_left_out": 0,
    }
    assert set(found["shared"].values()) == {0}
    (grouping,) = found["groupings"]
    assert (grouping["groups"], grouping["images"], grouping["mixed_pairs"]) == (["asian", "white"], [8, 8], 2)
    assert found["cosine"]["mean_same"] == pytest.approx(0.8)
    assert found["cosine"]["mean_different"] == pytest.approx(0, abs=1e-7)
    assert codes(found) == FEW


def test_cells_tell_what_a_false_positive_rate_means(written: Callable[..., Path]) -> None:
    cells = {(cell["fold"], cell["group"]): cell for cell in as_object(written(), "--backbone", "net")["cells"]}
    assert (cells["0", "all"]["same"], cells["0", "all"]["different"]) == (4, 5)
    assert (cells["pooled", "white"]["same"], cells["pooled", "white"]["different"]) == (4, 4)
    assert cells["pooled", "all"]["false_matches"] == {"1e-2": 0.1, "1e-3": 0.01}
    assert cells["1", "asian"]["enough"]
    assert len(cells) == 3 * 3


def _share_image(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    pairs.loc[len(pairs)] = [1, "a01", "a21", 0]  # a0 lives in fold 0


def _repeat_pair(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    pairs.loc[len(pairs)] = [0, "a02", "a01", 1]  # the first row, the other way round


def _repeat_in_other_fold(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    pairs.loc[len(pairs)] = [1, "a01", "a02", 1]


def _drop_vector(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    del vectors["a02"]  # used by one same and one different pair


def _shuffle_vectors(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    rows = list(vectors.values())
    for image, vector in zip(vectors, rows[1:] + rows[:1], strict=True):
        vectors[image] = vector
    pairs["same"] = 1 - pairs["same"].where(pairs.index % 9 != 8, 1)


def _slip_down(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    rows = list(vectors.values())
    vectors.update(zip(vectors, rows[-1:] + rows[:-1], strict=True))


def _slip_up(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    rows = list(vectors.values())
    vectors.update(zip(vectors, rows[1:] + rows[:1], strict=True))


def _constant(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    vectors["a01"] = np.full(24, 0.3, dtype=np.float32)


def _mislabel(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    pairs.loc[0, "same"] = 0


def _two_groups(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    images.loc[0, "ethnicity"] = "white"


def _unknown_group(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    images.loc[15, "ethnicity"] = ""


def _alike_groups(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    images.loc[15, "ethnicity"] = "White"


def _same_picture(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    vectors["w01"] = vectors["a01"]  # the mixed pair of fold 0


def _no_identity(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    del images["identity"]


def _thin_fold(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    pairs.loc[[0, 1], "same"] = 0  # no same pairs of the first group in fold 0


def _more_genuine_pairs(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    pairs.loc[[2, 3], "right"] = ["w11", "w12"]  # mixed: of the first group's pairs four of six are genuine


@pytest.mark.parametrize(
    ("change", "severity", "code", "words"),
    [
        (_share_image, "warning", "images-between-folds", "1 of 16 images occur"),
        (_share_image, "warning", "identities-between-folds", "1 of 8 identities"),
        (_repeat_pair, "warning", "repeated-pairs", "1 row repeats"),
        (_repeat_in_other_fold, "warning", "repeated-pairs", "1 of them in another fold"),
        (_drop_vector, "serious", "missing-vectors", "1 of 16 images"),
        (_shuffle_vectors, "serious", "vectors-against-labels", "no higher"),
        (_slip_down, "serious", "vectors-slipped", "Have the vectors slipped by a row"),
        (_slip_up, "serious", "vectors-slipped", "Have the vectors slipped by a row"),
        (_same_picture, "warning", "repeated-vectors", "2 images (a01, w01) have the very vector of another image"),
        (_constant, "warning", "constant-vectors", "1 image (a01) has a vector of one number throughout"),
        (_mislabel, "serious", "label-against-identity", "same=0 though the identities are equal"),
        (_two_groups, "warning", "same-person-two-groups", "1 pair of one person has"),
        (_unknown_group, "note", "images-without-group", "1 of 16 images; their 2 pairs"),
        (_same_picture, "warning", "different-but-alike", "1 pair labelled as two people"),
        (_alike_groups, "warning", "values-look-alike", "'White' and 'white'"),
        (_no_identity, "note", "no-identities", "No identities are known"),
        (_thin_fold, "warning", "too-few-in-fold", "asian in 1 of 2 folds"),
        (_more_genuine_pairs, "warning", "genuine-share-differs", "ethnicity (asian 67%, white 50%)"),
    ],
)
def test_each_suspicious_thing_is_found(
    written: Callable[..., Path], change: Change, severity: str, code: str, words: str
) -> None:
    found = as_object(written(change), "--backbone", "net")
    (finding,) = (finding for finding in found["findings"] if finding["code"] == code)
    assert finding["severity"] == severity
    assert words in finding["message"]


@pytest.mark.parametrize(
    ("change", "code", "counts"),
    [
        (_share_image, "images-between-folds", {"images": 1, "of": 16}),
        (_share_image, "identities-between-folds", {"identities": 1, "of": 8}),
        (_repeat_in_other_fold, "repeated-pairs", {"pairs": 1, "in_another_fold": 1}),
        (_drop_vector, "missing-vectors", {"images": 1, "of": 16, "pairs_left_out": 2}),
        (_unknown_group, "images-without-group", {"images": 1, "pairs": 2}),
        (_thin_fold, "too-few-in-fold", {"groups": 1, "groups_in_folds": 1}),
    ],
)
def test_a_finding_carries_its_numbers(
    written: Callable[..., Path], change: Change, code: str, counts: dict[str, int]
) -> None:
    found = as_object(written(change), "--backbone", "net")["findings"]
    assert [finding["counts"] for finding in found if finding["code"] == code] == [counts]


@pytest.mark.parametrize(
    ("change", "counts"),
    [(_repeat_in_other_fold, (2, 1, 1, 1)), (_repeat_pair, (0, 0, 1, 0)), (_share_image, (1, 1, 0, 0))],
)
def test_what_is_shared_is_counted(written: Callable[..., Path], change: Change, counts: tuple[int, ...]) -> None:
    names = (
        "images_between_folds",
        "identities_between_folds",
        "repeated_pairs",
        "repeated_pairs_between_folds",
    )
    assert as_object(written(change), "--backbone", "net")["shared"] == dict(zip(names, counts, strict=True))


def test_missing_vectors_leave_out_their_pairs(written: Callable[..., Path]) -> None:
    counts = as_object(written(_drop_vector), "--backbone", "net")["counts"]
    assert (counts["images"], counts["pairs"], counts["pairs_left_out"]) == (15, 16, 2)


def _stored_columns(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    del vectors["w32"]  # two pairs fall out: the columns must follow
    true = pairs["same"] * 0.8
    pairs["net"] = true + np.where(pairs.index == 2, 0.25, 0.0)
    pairs["vggface"] = 0.5 * true + 0.1
    pairs["exact"] = true
    pairs["percent"] = 100 * true
    pairs["remark"] = "none"
    pairs["flag"] = 1


def test_stored_cosines_are_compared_with_the_vectors(written: Callable[..., Path]) -> None:
    found = as_object(written(_stored_columns), "--backbone", "net")
    stored = {entry["column"]: entry for entry in found["stored_cosines"]}
    assert list(stored) == ["net", "vggface", "exact"]
    assert stored["net"]["differing_pairs"] == 1
    assert stored["net"]["largest_difference"] == pytest.approx(0.25, abs=1e-6)
    assert stored["net"]["mean_difference"] == pytest.approx(0.25 / 16, abs=1e-6)
    assert stored["vggface"]["correlation"] == pytest.approx(1)
    assert stored["exact"]["differing_pairs"] == 0
    told = {finding["code"]: finding for finding in found["findings"]}
    assert told["stored-cosine-differs"]["severity"] == "serious"
    assert "'net'" in told["stored-cosine-differs"]["message"]
    assert "'vggface'" in told["stored-cosine-of-another"]["message"]


def test_serious_things_come_first(written: Callable[..., Path]) -> None:
    def many(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
        for change in (_unknown_group, _repeat_pair, _drop_vector):
            change(images, pairs, vectors)

    severities = [finding["severity"] for finding in as_object(written(many), "--backbone", "net")["findings"]]
    assert severities == sorted(severities, key=["serious", "warning", "note"].index)
    assert set(severities) == {"serious", "warning", "note"}


def test_page_for_people(written: Callable[..., Path]) -> None:
    text = page(written(_drop_vector), "--backbone", "net")
    lines = text.splitlines()[1:]  # the title has a path
    assert max(map(len, lines)) <= 100
    assert text.index("Suspicious: 1 serious") < text.index("missing-vectors") < text.index("Counts")
    assert any(line.split() == ["white", "2/2", "2/2"] for line in lines)
    assert any(line.split() == ["white", "4", "4", "50%", "0.0,", "0.0", "0.0,", "0.0"] for line in lines)


def test_groups_too_small_to_be_measured_say_nothing_of_their_share(written: Callable[..., Path]) -> None:
    root = written(_more_genuine_pairs)
    assert "genuine-share-differs" in codes(as_object(root))
    assert "genuine-share-differs" not in codes(as_object(root, "--min-pairs", "7"))


def test_page_keeps_its_width_with_many_folds_and_long_names(written: Callable[..., Path]) -> None:
    def stretch(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
        images["ethnicity"] = images["ethnicity"] + "-" + "long" * 20
        pairs["fold"] = [f"a fold with the number {row // 2}" for row in range(len(pairs))]

    _, *lines = page(written(stretch), "--backbone", "net").splitlines()  # the title has a path
    assert max(map(len, lines)) <= 100
    assert any("fewest impostor" in line for line in lines)


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("columns", "widest"), [("40", 60), ("72", 72), ("200", 100)])
def test_page_fits_a_terminal_and_loses_no_number(
    written: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, columns: str, widest: int
) -> None:
    root = written(_drop_vector)
    piped = page(root, "--backbone", "net")
    for name, value in {"COLUMNS": columns, "TERM": "xterm-256color"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", _Terminal())
    text = page(root, "--backbone", "net")
    assert "\x1b[" in text and "\x1b" not in piped
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert max(map(len, plain.splitlines()[1:])) <= widest
    assert "\u2026" not in plain
    facts = (shown.partition("\nCounts")[2] for shown in (plain, piped))  # paths in findings go on in the next line
    narrow, wide = (sorted(re.findall(r"[\d.e-]+", text)) for text in facts)
    assert narrow == wide


def test_names_cannot_steer_the_terminal(written: Callable[..., Path]) -> None:
    def steer(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
        images["ethnicity"] = images["ethnicity"].replace("white", "w\x1b[2J[red]")

    text = page(written(steer), "--backbone", "net")
    assert "\x1b" not in text and "w\\x1b[2J[red]" in text


def test_tables_alone(written: Callable[..., Path]) -> None:
    root = written()
    (root / "mine" / "embeddings" / "net.npz").unlink()
    found = as_object(root)
    assert (found["backbone"], found["cosine"], found["stored_cosines"]) == (None, None, [])
    assert found["counts"]["pairs"] == 18
    assert "tables only" in page(root)


def test_scores_without_images(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    columns = {
        "fold": [0, 0, 1, 1] * 10,
        "same": [1, 0] * 20,
        "vendor": [0.1, 0.9, 0.2, 0.8] * 10,  # enough pairs to call it reversed
        "gender_left": ["f", "f", "m", "m"] * 10,
        "gender_right": ["f", "m", "m", "m"] * 10,
    }
    pd.DataFrame(columns).to_csv(tmp_path / "mine" / "pairs.csv", index=False)
    found = as_object(tmp_path, "--column", "vendor", "--grouping", "gender")
    assert found["groupings"][0]["mixed_pairs"] == 10
    assert found["cosine"]["mean_same"] == pytest.approx(0.15)
    assert found["findings"][0]["code"] == "reversed-scores"
    assert found["column"] == "vendor"
    for options in ((), ("--backbone", "scores"), ("--backbone", "net")):
        with pytest.raises(ConfigError, match=r"images\.csv .*name the column of cosines with --score.*: vendor\."):
            page(tmp_path, "--grouping", "gender", *options)


def test_scores_beside_images_need_their_column(written: Callable[..., Path]) -> None:
    root = written()
    with pytest.raises(ConfigError, match=r"--backbone scores goes with --score.*Other columns of .*: none\."):
        page(root, "--backbone", "scores")


def test_grouping_can_be_named_or_left_out(written: Callable[..., Path]) -> None:
    root = written()
    assert as_object(root, "--grouping", "identity")["groupings"][0]["mixed_pairs"] == 10
    without = as_object(root, "--grouping", "")
    assert without["groupings"] == []
    (told,) = [finding for finding in without["findings"] if finding["code"] == "no-groups"]
    assert told["message"].endswith("Name one or several: 'dataset.grouping=[ethnicity]' (here: --grouping ethnicity)")
    assert told["counts"] == {"ethnicity": 2}


def test_columns_that_could_be_groups_are_listed(written: Callable[..., Path]) -> None:
    def describe(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
        images["skin tone"] = images.pop("ethnicity")
        images["note"] = "the same"
        images["glasses"] = ["yes", "no", ""] * (len(images) // 3) + ["no"] * (len(images) % 3)

    text = " ".join(page(written(describe), "--grouping", "").split())
    assert "skin tone (2), glasses (2). Name one or several: 'dataset.grouping=[skin tone]'" in text
    assert "There are no groups" not in text


def test_no_groups_unless_they_are_named_as_in_a_run(written: Callable[..., Path]) -> None:
    root = written()
    own = " ".join(command.check(_arguments("--dataset", "mine", "--data-root", str(root)))[0].split())
    assert "no groups" in own and "'dataset.grouping=[ethnicity]'" in own
    (root / "mine").rename(root / "rfw")  # its yaml names them
    known = " ".join(command.check(_arguments("--dataset", "rfw", "--data-root", str(root)))[0].split())
    assert "groups by ethnicity" in known


def test_pairs_without_folds_are_told_what_makes_some(written: Callable[..., Path]) -> None:
    def drop(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
        pairs.pop("fold")

    assert "no-folds" in codes(as_object(written(drop)))


def _no_folds(images: pd.DataFrame, pairs: pd.DataFrame, vectors: dict[str, np.ndarray]) -> None:
    pairs.pop("fold")


@pytest.mark.parametrize(
    ("change", "code", "reason"),
    [(_drop_vector, "missing-vectors", "dataset.missing=drop"), (_no_folds, "no-folds", "protocol=identity_disjoint")],
)
def test_a_set_that_run_refuses_gives_its_page_and_exit_code_1(
    written: Callable[..., Path],
    change: Change,
    code: str,
    reason: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = written(change)
    words = ["fairfr", "--dataset", "mine", "--backbone", "net", "--data-root", str(root)]
    monkeypatch.setattr(sys, "argv", [*words, "--json"])
    with pytest.raises(SystemExit) as left:
        check_main()
    assert "refuses this set" in str(left.value) and reason in str(left.value)  # a text as code is exit code 1
    assert code in codes(json.loads(capsys.readouterr().out))


def test_a_set_that_run_takes_gives_exit_code_0(
    written: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = written()
    monkeypatch.setattr(sys, "argv", ["fairfr", "--dataset", "mine", "--backbone", "net", "--data-root", str(root)])
    check_main()
    assert "mine" in capsys.readouterr().out


def test_what_no_run_could_read_is_an_error(written: Callable[..., Path]) -> None:
    root = written()
    with pytest.raises(DataError, match=r"Did you mean .net."):
        page(root, "--backbone", "nett")
    with pytest.raises(ConfigError, match="at least 1"):
        page(root, "--min-pairs", "0")
    with pytest.raises(DataError, match="not found"):
        page(root, "--dataset", "other")
