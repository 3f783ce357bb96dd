"""``fairfr evaluate`` from the command line: from vectors, from scores, and as calibrate score wrote it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from held_scores import Held

import fairfr
from fairfr.commands.evaluate import make_parser, run
from fairfr.core.errors import ConfigError, DataError, UnmetNeedError
from fairfr.library.expected import KEY, expected_of
from fairfr.library.threshold import ThresholdRequest, find_threshold

PEOPLE = 120
IMAGES = 4


class Scene:
    """People with four images each, vectors, and pairs in the columns that a pairs file has."""

    def __init__(self, folder: Path) -> None:
        rng = np.random.default_rng(0)
        self.folder = folder
        self.person = np.repeat(np.arange(PEOPLE), IMAGES)
        centre = rng.normal(size=(PEOPLE, 16))
        self.vectors = centre[self.person] + 0.9 * rng.normal(size=(PEOPLE * IMAGES, 16))
        self.ids = [f"i{k}" for k in range(len(self.person))]
        first = np.arange(0, len(self.person), 2)
        genuine = np.column_stack([first, first + 1])
        impostors = np.column_stack([first, rng.permutation(first + 1)])
        impostors = impostors[self.person[impostors[:, 0]] != self.person[impostors[:, 1]]]
        self.pairs = np.concatenate([genuine, impostors])
        self.same = self.person[self.pairs[:, 0]] == self.person[self.pairs[:, 1]]
        self.race = np.array(["a", "b"])[self.person % 2]

    def model(self, cls: Any, **parameters: Any) -> Any:
        model = cls(**parameters).fit(self.vectors, self.pairs, self.same)
        left, right = self.pairs.T
        group = np.where(self.race[left] == self.race[right], self.person[left] % 2, -1)
        probability = model.probability(self.vectors, self.pairs)
        held: Any = Held(self.same, probability, (self.person[left], self.person[right]), group=group)
        model.origin_ = {KEY: expected_of(held)}
        model.thresholds_ = (json.loads(json.dumps(find_threshold(held, ThresholdRequest(0.1)))),)
        model.save(self.folder / "m.fairfr", with_faces=True)
        return model

    def write(self) -> None:
        """pairs.csv names images, images.csv says who and what is on them, images.npz has their vectors."""
        np.savez(self.folder / "images.npz", image=np.array(self.ids), vectors=self.vectors)
        rows = [f"{id},p{who},{race}" for id, who, race in zip(self.ids, self.person, self.race, strict=True)]
        (self.folder / "images.csv").write_text("\n".join(["image,identity,race", *rows]) + "\n")
        lines = ["left,right,same,note"]
        lines += [f"i{a},i{b},{int(same)},x" for (a, b), same in zip(self.pairs, self.same, strict=True)]
        (self.folder / "pairs.csv").write_text("\n".join(lines) + "\n")

    def called(self, *words: str, pairs: str = "pairs.csv") -> dict[str, Any]:
        given = ["--model", str(self.folder / "m.fairfr"), "--pairs", str(self.folder / pairs)]
        text = run(make_parser().parse_args([*given, *words, "--out", str(self.folder / "out")]))
        content: dict[str, Any] = json.loads((self.folder / "out" / "evaluation.json").read_text())
        page = (self.folder / "out" / "evaluation.html").read_text()
        assert str(self.folder) not in page, "the page may be passed on"
        content["printed"] = text
        return content


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path)
    made.write()
    return made


def test_vectors_with_a_table_of_images(scene: Scene) -> None:
    model = scene.model(fairfr.ACLinear)
    files = ("--embeddings", str(scene.folder / "images.npz"), "--images", str(scene.folder / "images.csv"))
    content = scene.called(*files, "--group", "race")
    assert content["verdict"] is not None
    assert content["pairs"]["people"] == PEOPLE
    assert content["file"]["name"] == "pairs.csv"
    probability = model.probability(scene.vectors, scene.pairs)
    threshold = model.thresholds_[0]["confident_threshold"] or model.thresholds_[0]["threshold"]
    left, right = scene.pairs.T
    for row in content["rates"]:
        inside = np.ones(len(probability), dtype=bool)
        if row["group"] != "all":
            inside = (scene.race[left] == row["group"]) & (scene.race[right] == row["group"])
        accepted = inside & ~scene.same & (probability >= threshold)
        assert (row["false_matches"], row["impostors"]) == (accepted.sum(), (inside & ~scene.same).sum())
    assert {row["group"] for row in content["rates"]} == {"all", "a", "b"}


def test_scores_alone_and_what_calibrate_score_wrote(scene: Scene) -> None:
    model = scene.model(fairfr.Beta)
    unit = scene.vectors / np.linalg.norm(scene.vectors, axis=1, keepdims=True)
    left, right = scene.pairs.T
    cosine = np.sum(unit[left] * unit[right], axis=1)
    probability = model.probability_scores(cosine)
    lines = ["s,p,race,match"]
    for k in range(len(cosine)):
        race = scene.race[left[k]] if scene.race[left[k]] == scene.race[right[k]] else ""
        lines.append(f"{float(cosine[k])!r},{float(probability[k])!r},{race},{int(scene.same[k])}")
    (scene.folder / "scores.csv").write_text("\n".join(lines) + "\n")
    by_score = scene.called("--score", "s", "--group", "race", pairs="scores.csv")
    by_probability = scene.called("--probability", "p", "--group", "race", pairs="scores.csv")
    for one in (by_score, by_probability):
        del one["printed"]
    assert by_score == by_probability
    assert by_score["pairs"]["identities"] == "unknown"


def test_a_model_that_needs_vectors_asks_for_them(scene: Scene) -> None:
    scene.model(fairfr.ACLinear)
    with pytest.raises(UnmetNeedError, match=r"--embeddings FILE\.npz; or the column of the probabilities"):
        scene.called()
    with pytest.raises(ConfigError, match="--image-table goes with --embeddings"):
        scene.called("--images", str(scene.folder / "images.csv"))


def test_an_image_without_a_vector_is_named_with_its_line(scene: Scene) -> None:
    scene.model(fairfr.ACLinear)
    path = scene.folder / "pairs.csv"
    path.write_text(path.read_text().replace("i4,i5,", "i4,somebody,", 1))
    with pytest.raises(DataError, match=r"line 4.*right image 'somebody' has no vector"):
        scene.called("--embeddings", str(scene.folder / "images.npz"))


def test_scores_that_are_no_cosines_are_refused(scene: Scene) -> None:
    scene.model(fairfr.Beta)
    (scene.folder / "scores.csv").write_text("cosine,same\n0.1,0\n7,1\n")
    with pytest.raises(DataError, match=r"line 3.*the score is 7"):
        scene.called(pairs="scores.csv")
    (scene.folder / "far.csv").write_text("distance,same\n0.1,1\n")
    with pytest.raises(ConfigError, match="a model takes scores"):
        scene.called(pairs="far.csv")


def test_a_blank_probability_is_a_bad_row(scene: Scene) -> None:
    scene.model(fairfr.Beta)
    rows = [f"0.{k % 9 + 1},{int(k % 9 > 4)}" for k in range(90)]
    (scene.folder / "p.csv").write_text("\n".join(["p,same", *rows, ",1"]) + "\n")
    with pytest.raises(DataError, match="1 row: the score is not a finite number"):
        scene.called("--probability", "p", pairs="p.csv")
    content = scene.called("--probability", "p", "--bad-rows", "leave-out", pairs="p.csv")
    assert content["pairs"]["left_out"] == {"the score is not a finite number": 1}
