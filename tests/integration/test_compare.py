"""fairfr.compare on arrays gives the numbers that runs on the same data and folds give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fairfr

N_PEOPLE = 60
IMAGES_OF_ONE = 5
WITHOUT_DRAWS = {
    "baseline": fairfr.Baseline(),
    "beta": fairfr.Beta(),
    "platt": fairfr.Platt(),
    "isotonic": fairfr.Isotonic(),
    "ac_hinge": fairfr.ACHinge(),
    "ac_linear": fairfr.ACLinear(),
    "ac_density": fairfr.ACDensity(),
    "oracle": fairfr.Oracle(),
}
WITH_DRAWS = {"faircal": fairfr.FairCal(), "fsn": fairfr.FSN(), "ac_cohort": fairfr.ACCohort()}
EXACTNESS = {"ac_cohort": 1e-7}
"""It takes products of vectors in float32, whose rounding depends on the order of the images, in runs as well."""


class Faces:
    """Pairs of made-up people in twelve blocks, without impostors between blocks, as arrays and as files."""

    def __init__(self) -> None:
        rng = np.random.default_rng(5)
        self.who = np.repeat(np.arange(N_PEOPLE), IMAGES_OF_ONE)
        n = len(self.who)
        self.embeddings = rng.normal(size=(N_PEOPLE, 12))[self.who] + 0.9 * rng.normal(size=(n, 12))
        every = np.array([(i, j) for i in range(n) for j in range(i)])
        block = self.who // 5
        near = every[block[every[:, 0]] == block[every[:, 1]]]
        same = self.who[near[:, 0]] == self.who[near[:, 1]]
        kept = same | (rng.random(len(near)) < 0.5)
        order = rng.permutation(np.count_nonzero(kept))
        self.pairs = near[kept][order]
        self.same = same[kept][order]
        self.fold = block[self.pairs[:, 0]] % 4
        self.images = np.array([f"face-{number:03}" for number in rng.permutation(n)])
        self.groups = {
            "gender": np.array(["female", "male"])[self.who % 2],
            "age": np.where(self.who % 3 == 0, "old", "young"),
        }
        self.people = np.array([f"person {who}" for who in self.who])

    def write(self, root: Path, with_folds: bool) -> None:
        folder = root / "mine"
        (folder / "embeddings").mkdir(parents=True)
        table = pd.DataFrame({"image": self.images, "identity": self.people, **self.groups})
        table.sample(frac=1, random_state=0).to_csv(folder / "images.csv", index=False)
        left, right = (self.images[self.pairs[:, side]] for side in (0, 1))
        pairs = pd.DataFrame({"fold": self.fold, "left": left, "right": right, "same": self.same.astype(int)})
        if not with_folds:
            pairs = pairs.drop(columns="fold")
        pairs.to_csv(folder / "pairs.csv", index=False)
        np.savez(folder / "embeddings" / "mynet.npz", image=self.images, vectors=self.embeddings)

    def compare(self, methods: dict[str, Any], **known: Any) -> Any:
        return fairfr.compare(
            methods,
            self.embeddings,
            self.pairs,
            self.same,
            groups=self.groups,
            identities=self.people,
            **known,
        )


def run_all(cell: Any, root: Path, methods: Any, *overrides: str) -> pd.DataFrame:
    """The held-out scores of runs on the files, a column for each method."""
    columns = {}
    for method in methods:
        done = cell(
            "dataset=custom",
            "dataset.id=mine",
            "dataset.grouping=[gender,age]",
            "backbone=custom",
            "backbone.id=mynet",
            f"method={method}",
            f"data_root={root}",
            "source=files",
            *overrides,
        )
        assert done.status == "completed", done.error
        scores = pd.read_parquet(done.folder / "scores.parquet").sort_values("pair")
        columns["fold"] = scores["split"].astype(str).to_numpy()
        columns[method] = scores["probability"].to_numpy()
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def faces() -> Faces:
    return Faces()


@pytest.mark.filterwarnings("ignore::fairfr.FairfrWarning")
def test_methods_without_draws_have_the_numbers_of_runs(cell: Any, faces: Faces, tmp_path: Path) -> None:
    faces.write(tmp_path / "data", with_folds=True)
    wanted = run_all(cell, tmp_path / "data", WITHOUT_DRAWS)
    found = faces.compare(WITHOUT_DRAWS, folds=faces.fold)
    scores = found.scores()
    assert list(scores.columns) == ["pair", "fold", "same", *WITHOUT_DRAWS]
    assert scores["fold"].astype(str).tolist() == wanted["fold"].tolist()
    assert scores["same"].tolist() == faces.same.tolist()
    for method in WITHOUT_DRAWS:
        np.testing.assert_allclose(scores[method], wanted[method], rtol=0, atol=1e-9, err_msg=method)


@pytest.mark.filterwarnings("ignore::fairfr.FairfrWarning")
def test_methods_that_draw_have_them_by_the_names_of_data_and_images(cell: Any, faces: Faces, tmp_path: Path) -> None:
    faces.write(tmp_path / "data", with_folds=True)
    wanted = run_all(cell, tmp_path / "data", WITH_DRAWS)
    named = {"dataset": "mine", "backbone": "mynet", "images": faces.images}
    scores = faces.compare(WITH_DRAWS, folds=faces.fold, **named).scores()
    others = faces.compare({"faircal": fairfr.FairCal()}, folds=faces.fold).scores()
    for method in WITH_DRAWS:
        atol = EXACTNESS.get(method, 1e-9)
        np.testing.assert_allclose(scores[method], wanted[method], rtol=0, atol=atol, err_msg=method)
    assert np.abs(others["faircal"] - wanted["faircal"]).max() > 1e-3, "the names decide what is drawn"


@pytest.mark.filterwarnings("ignore::fairfr.FairfrWarning")
def test_a_number_of_folds_is_the_protocol_without_common_people(cell: Any, faces: Faces, tmp_path: Path) -> None:
    faces.write(tmp_path / "data", with_folds=False)
    disjoint = ("protocol=identity_disjoint", "protocol.splitter.folds=3")
    wanted = run_all(cell, tmp_path / "data", ["beta"], *disjoint)
    scores = faces.compare({"beta": fairfr.Beta()}, folds=3).scores()
    assert scores["fold"].astype(str).tolist() == wanted["fold"].tolist()
    np.testing.assert_allclose(scores["beta"], wanted["beta"], rtol=0, atol=1e-9)


@pytest.mark.filterwarnings("ignore::fairfr.FairfrWarning")
def test_the_frame_has_the_numbers_of_results(cell: Any, faces: Faces, tmp_path: Path) -> None:
    faces.write(tmp_path / "data", with_folds=True)
    methods = {"beta": fairfr.Beta(), "oracle": fairfr.Oracle()}
    run_all(cell, tmp_path / "data", methods, f"out_root={tmp_path / 'out'}")
    stored = fairfr.results(tmp_path / "out", reading="strict", every=True)
    frame = faces.compare(methods, folds=faces.fold).frame()
    assert list(frame.columns) == list(stored.columns)
    assert frame.dtypes.to_dict() == stored.dtypes.to_dict()
    place = ["method", "grouping", "group", "metric"]
    both = frame.merge(stored, on=place, suffixes=("", "_of_run"), validate="one_to_one")
    assert len(both) == len(frame) == len(stored)
    for number in ("mean", "std", "pooled"):
        np.testing.assert_allclose(both[number], both[f"{number}_of_run"], rtol=0, atol=1e-9)
    for count in ("folds", "folds_total", "n_same", "n_diff"):
        assert both[count].tolist() == both[f"{count}_of_run"].tolist()
