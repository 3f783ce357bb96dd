"""The tables of docs/lab/fairness_gaps.md: what happens to groups of people at one threshold, on real faces.

python docs/fairness_gaps.py data/celeba mobileface_v3 gender,age --out OUT
python docs/fairness_gaps.py data/lfw_within dlib_resnet ethnicity,gender --out OUT --times 1000 --most 200000

Each fold is scored by models that were fitted on the pairs of the other folds, as `fairfr run` does it. The genuine
pairs are those of the data set; the impostor pairs are many more than it lists: all inside one fold and one group, or
a draw of them (``--times`` as many as listed there, no more than ``--most`` in a group). One threshold serves all
people. Intervals are over people: 300 draws, the same for all methods, the threshold set again in each; nothing is
fitted again.

``OUT/<data set>_<backbone>.csv`` has every number with its interval; scores are kept beside it and not computed again.
"""

import argparse
import csv
import sys
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

import fairfr

F64: TypeAlias = npt.NDArray[np.float64]
I64: TypeAlias = npt.NDArray[np.int64]
Bool: TypeAlias = npt.NDArray[np.bool_]

RAW = "raw"
METHODS: dict[str, type[Any] | None] = {
    RAW: None,
    "beta": fairfr.Beta,
    "AC-Linear": fairfr.ACLinear,
    "AC-Hinge": fairfr.ACHinge,
    "AC-Cohort": fairfr.ACCohort,
    "FALCON": fairfr.Falcon,
    "FairCal": fairfr.FairCal,
    "FSN": fairfr.FSN,
    "GST (labels)": fairfr.GST,
    "Oracle (labels)": fairfr.Oracle,
    "DemoNorm (labels)": fairfr.DemoNorm,
    "DemoNorm by group (labels)": fairfr.DemoNormGroup,
}
WANTED = ("raw", "AC-Linear", "AC-Hinge", "AC-Cohort")
LEVELS = (1e-2, 1e-3)
DRAWS = 300
SEED = 0
FEW = 10
"""With fewer false matches a rate says little."""
DEEPEST = 0.1
KEPT_WHOLE = 20_000
"""Of impostor pairs the highest scores are sorted and weighed: a tenth, or so many. No threshold here is lower."""


def main() -> None:
    """Score, measure and print one table for each false match rate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path, help="folder of a data set with folds")
    parser.add_argument("backbone")
    parser.add_argument("grouping", help="columns of images.csv, separated by commas")
    parser.add_argument("--methods", nargs="+", default=WANTED, choices=METHODS, metavar="METHOD")
    parser.add_argument("--times", type=int, default=20, help="impostor pairs, times those listed (default: 20)")
    parser.add_argument("--most", type=int, default=1_000_000, help="impostor pairs of a group (default: 1000000)")
    parser.add_argument("--fewest", type=int, default=3000, help="impostor pairs that a group needs (default: 3000)")
    parser.add_argument("--out", type=Path, required=True, help="where scores and numbers go")
    options = parser.parse_args()
    faces = Faces.read(options.dataset, options.backbone, options.grouping.split(","))
    dense = draw_impostors(faces, options.times, options.most)
    title = f"{options.dataset.name}_{options.backbone}"
    methods = [RAW, *(name for name in options.methods if name != RAW)]
    scores = {}
    for name in methods:
        path = options.out / title / f"{name}.npy"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, score_folds(faces, dense, METHODS[name]))
        scores[name] = np.load(path)
    scene = Scene.of(faces, dense, options.fewest)
    measured = {name: measure(scene, score) for name, score in scores.items()}
    write_numbers(options.out / f"{title}.csv", scene, measured)
    sys.stdout.write(_heading(title, scene))
    for level in range(len(LEVELS)):
        sys.stdout.write(
            table_of_rates(scene, measured, level) + "\n\n" + table_of_gaps(scene, measured, level) + "\n\n"
        )


def _heading(title: str, scene: "Scene") -> str:
    inside = ", ".join(
        f"{name} {n_same:,} / {n_other:,}"
        for name, n_same, n_other in zip(scene.groups, scene.count(True), scene.count(False), strict=True)
    )
    same = scene.group[scene.same]
    return f"## {title}\n\n{len(same):,} genuine and {len(scene.same) - len(same):,} impostor pairs: {inside}\n\n"


# -- pairs and their scores --------------------------------------------------------------------------------------------


class Faces(NamedTuple):
    """A data set: its images (n,), and its pairs (p,) as rows of two images each."""

    vectors: npt.NDArray[np.float32]
    person: I64
    labels: dict[str, npt.NDArray[np.object_]]
    group: I64  # -1: unknown
    groups: tuple[str, ...]
    pairs: I64
    same: Bool
    fold: I64

    @classmethod
    def read(cls, folder: Path, backbone: str, columns: list[str]) -> "Faces":
        """From the three files of a data set."""
        images = pd.read_csv(folder / "images.csv", dtype=str, keep_default_na=False)
        table = pd.read_csv(folder / "pairs.csv", dtype={"left": str, "right": str})
        used = images["image"].isin(set(table["left"]) | set(table["right"]))
        images = images[used].sort_values("image").reset_index(drop=True)
        stored = np.load(folder / "embeddings" / f"{backbone}.npz")
        row = pd.Series(np.arange(len(stored["image"])), index=stored["image"])
        known = (images[columns] != "").all(axis=1)
        name = images[columns].agg(" ".join, axis=1)
        groups = tuple(sorted(set(name[known])))
        place = pd.Series(np.arange(len(images)), index=images["image"])
        return cls(
            vectors=stored["vectors"][row[images["image"]]].astype(np.float32),
            person=pd.factorize(images["identity"])[0].astype(np.int64),
            labels={column: images[column].replace("", None).to_numpy(dtype=object) for column in columns},
            group=np.where(known, pd.Categorical(name, categories=groups).codes, -1).astype(np.int64),
            groups=groups,
            pairs=np.column_stack([place[table["left"]], place[table["right"]]]),
            same=table["same"].to_numpy() == 1,
            fold=pd.factorize(table["fold"])[0].astype(np.int64),
        )


class Dense(NamedTuple):
    """What is scored: rows of two images (p,), whether they are of one person, and their fold."""

    pairs: I64
    same: Bool
    fold: I64


def draw_impostors(faces: Faces, times: int, most: int) -> Dense:
    """The genuine pairs of the data set, and many impostor pairs, each inside a fold and a group."""
    most_in_fold = most // (int(faces.fold.max()) + 1)
    rng = np.random.default_rng(SEED)
    fold_of = np.full(len(faces.person), -1)
    fold_of[faces.pairs.ravel()] = np.repeat(faces.fold, 2)
    listed_in = _group_of(faces, faces.pairs)
    pairs = [faces.pairs[faces.same]]
    folds = [faces.fold[faces.same]]
    for group in range(len(faces.groups)):
        for fold in np.unique(faces.fold):
            listed = np.count_nonzero((listed_in == group) & (faces.fold == fold) & ~faces.same)
            found = _impostors(np.flatnonzero((faces.group == group) & (fold_of == fold)), faces.person)
            wanted = min(times * listed, most_in_fold)
            if len(found) > wanted:
                found = found[np.sort(rng.choice(len(found), wanted, replace=False))]
            pairs.append(found)
            folds.append(np.full(len(found), fold))
    together = np.concatenate(pairs)
    return Dense(together, np.arange(len(together)) < len(pairs[0]), np.concatenate(folds))


def _impostors(images: I64, person: I64) -> I64:
    """All pairs of different people among ``images``, (p, 2)."""
    left, right = np.triu_indices(len(images), 1)
    pairs = np.column_stack([images[left], images[right]])
    return pairs[person[pairs[:, 0]] != person[pairs[:, 1]]]


def _group_of(faces: Faces, pairs: I64) -> I64:
    """The group that both images are of, (p,); -1 where there is none."""
    left = faces.group[pairs[:, 0]]
    right = faces.group[pairs[:, 1]]
    return np.where(left == right, left, -1)


def score_folds(faces: Faces, dense: Dense, method: type[Any] | None) -> F64:
    """The held-out score of each pair, (p,)."""
    score = np.full(len(dense.same), np.nan)
    if method is None:
        unit = faces.vectors.astype(np.float64)
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        for start in range(0, len(score), 10_000):
            left, right = dense.pairs[start : start + 10_000].T
            score[start : start + 10_000] = np.einsum("ij,ij->i", unit[left], unit[right])
        return score
    for fold in np.unique(dense.fold):
        train = faces.fold != fold
        here = dense.fold == fold
        model = method()
        about = {}
        if "groups" in model.needs:
            about["groups"] = faces.labels
        model.fit(faces.vectors, faces.pairs[train], faces.same[train], identities=faces.person, **about)
        if model.asks_for_people:
            about["identities"] = faces.person
        score[here] = model.decision_function(faces.vectors, dense.pairs[here], **about)
    return score


# -- rates -------------------------------------------------------------------------------------------------------------


class Scene(NamedTuple):
    """Pairs (p,) with the group of both images (-1: none) and the people of both (p, 2); draws of people."""

    same: Bool
    group: I64
    groups: tuple[str, ...]
    people: I64
    drawn: I64  # how often each person is drawn, (1 + draws, people); the first row is the data itself
    weight_of_impostors: F64  # (1 + draws, groups + 1): of each group, and of pairs that are in none of them

    @classmethod
    def of(cls, faces: Faces, dense: Dense, fewest: int) -> "Scene":
        """Groups with fewer than so many impostor pairs count among all pairs only."""
        group = _group_of(faces, dense.pairs)
        size = np.bincount(group[~dense.same], minlength=len(faces.groups))
        kept = np.flatnonzero(size >= fewest)
        number = np.full(len(faces.groups) + 1, -1)  # the last entry is that of -1
        number[kept] = np.arange(len(kept))
        n = int(faces.person.max()) + 1
        rng = np.random.default_rng(SEED)
        drawn = np.ones((1 + DRAWS, n), dtype=np.int64)
        for draw in range(1, 1 + DRAWS):
            drawn[draw] = np.bincount(rng.integers(n, size=n), minlength=n)
        groups = tuple(faces.groups[one] for one in kept)
        people = faces.person[dense.pairs]
        total = np.empty((1 + DRAWS, len(kept) + 1))
        others = ~dense.same
        for draw, count in enumerate(drawn):
            weight = weigh(people[others], count)
            total[draw] = np.bincount(number[group[others]] % (len(kept) + 1), weight, len(kept) + 1)
        return cls(dense.same, number[group], groups, people, drawn, total)

    def count(self, same: bool) -> I64:
        """Pairs of one kind in each group."""
        chosen = (self.same == same) & (self.group >= 0)
        return np.bincount(self.group[chosen], minlength=len(self.groups))


class Rates(NamedTuple):
    """In the data (first row) and in each draw: (1 + draws, levels), or (1 + draws, levels, groups)."""

    tpr: F64  # of all people
    group_tpr: F64
    group_fmr: F64  # over the wanted rate
    own_tpr: F64  # at each group's own threshold of the same rate
    false_matches: F64  # at the common threshold, in the data alone


def measure(scene: Scene, score: F64) -> Rates:
    """The rates of one method."""
    shape = len(scene.drawn), len(LEVELS), len(scene.groups)
    rates = Rates(np.empty(shape[:2]), np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape[1:]))
    impostor = Falling.of(scene, score, ~scene.same, np.inf)
    genuine = Falling.of(scene, score, scene.same, -np.inf)
    inside = []
    for group in range(len(scene.groups)):
        of_group = scene.group == group
        # all that the common threshold may accept, wherever it lies
        impostors_here = Falling.of(scene, score, of_group & ~scene.same, impostor.lowest)
        inside.append((impostors_here, Falling.of(scene, score, of_group & scene.same, -np.inf)))
    for draw, count in enumerate(scene.drawn):
        false = impostor.drawn(count, scene.weight_of_impostors[draw].sum())
        true = genuine.drawn(count)
        thresholds = [false.threshold(level) for level in LEVELS]
        rates.tpr[draw] = [true.share(threshold) for threshold in thresholds]
        for group, (impostors_here, genuine_here) in enumerate(inside):
            own_false = impostors_here.drawn(count, scene.weight_of_impostors[draw, group])
            own_true = genuine_here.drawn(count)
            for at, level in enumerate(LEVELS):
                rates.group_fmr[draw, at, group] = own_false.share(thresholds[at]) / level
                rates.group_tpr[draw, at, group] = own_true.share(thresholds[at])
                rates.own_tpr[draw, at, group] = own_true.share(own_false.threshold(level))
    rates.false_matches[:] = rates.group_fmr[0] * np.array(LEVELS)[:, None] * scene.count(False)
    return rates


class Falling(NamedTuple):
    """The highest scores (k,) of some pairs, falling, and the people of each (k, 2)."""

    scores: F64
    people: I64

    @classmethod
    def of(cls, scene: Scene, score: F64, chosen: Bool, lowest: float) -> "Falling":
        """A share that no threshold goes below, and all that are not below ``lowest``."""
        rows = np.flatnonzero(chosen)
        rows = rows[np.argsort(-score[rows], kind="stable")]
        kept = max(int(DEEPEST * len(rows)), KEPT_WHOLE, np.count_nonzero(score[rows] >= lowest))
        return cls(score[rows[:kept]], scene.people[rows[:kept]])

    @property
    def lowest(self) -> float:
        return float(self.scores[-1])

    def drawn(self, count: I64, total: float | None = None) -> "Accepted":
        """With the weights of one draw; ``total`` is that of all pairs, also of those that were left out."""
        weight = np.cumsum(weigh(self.people, count))
        if total is None:
            total = float(weight[-1])
        return Accepted(self.scores, weight, total)


def weigh(people: I64, count: I64) -> I64:
    """A pair of two people weighs the product of how often they were drawn, a pair of one as often as it was."""
    left, right = people.T
    return np.where(left == right, count[left], count[left] * count[right])


class Accepted(NamedTuple):
    """Falling scores (k,), how much weight lies at or above each of them (k,), and the weight of all."""

    falling: F64
    weight: I64
    total: float

    def threshold(self, rate: float) -> float:
        """Pairs above it are at most ``rate`` of all."""
        at = np.searchsorted(self.weight, rate * self.total, side="right")
        return float(self.falling[min(at, len(self.falling) - 1)])

    def share(self, threshold: float) -> float:
        """How much of all lies above the threshold; NaN where nothing was drawn."""
        above = int(np.searchsorted(-self.falling, -threshold, side="left"))
        if self.total == 0:
            return float("nan")
        if above == 0:
            return 0.0
        return float(self.weight[above - 1] / self.total)


# -- what is printed ---------------------------------------------------------------------------------------------------


class Found(NamedTuple):
    """A value, the ends of its 95 % interval, and the mean of draws minus the value."""

    value: float
    low: float
    high: float
    bias: float

    @classmethod
    def of(cls, values: F64) -> "Found":
        """Of the data (first) and the draws."""
        # nearest: no number lies between a finite value and infinity
        low, high = np.nanquantile(values[1:], [0.025, 0.975], method="nearest")
        with np.errstate(invalid="ignore"):  # infinity minus infinity
            bias = np.nanmean(values[1:]) - values[0]
        return cls(float(values[0]), float(low), float(high), float(bias))

    def leaves_out(self, neutral: float) -> bool:
        return self.low > neutral or self.high < neutral

    def short(self) -> str:
        """A difference, with a star if its interval leaves out 0."""
        star = "*" if self.leaves_out(0) else ""
        return f"{self.value:+.1f}{star}"

    def whole(self, form: str, neutral: float) -> str:
        """With the interval, and a star if it leaves out ``neutral``; nothing where there is no value."""
        if not np.isfinite(self.value):
            return ""
        star = "*" if self.leaves_out(neutral) else ""
        interval = f"[{self.low:{form}}, {self.high:{form}}]"
        if not np.isfinite(self.high):
            interval = f"> {self.low:{form}}"
        return f"{self.value:{form}} {interval}{star}"


def gap(rates: F64) -> F64:
    """Highest minus lowest of all groups (last axis), in points."""
    return 100 * (rates.max(axis=-1) - rates.min(axis=-1))


def ratio(rates: F64) -> F64:
    """Highest over lowest of all groups (last axis); infinite where a group has none."""
    with np.errstate(divide="ignore"):
        found: F64 = rates.max(axis=-1) / rates.min(axis=-1)
    return found


def _times(spread: float) -> str:
    return f"{spread:.1f}" if np.isfinite(spread) else "a group has none"


def _change_of_ratio(spread: F64, raw: F64) -> str:
    """Times raw; nothing where a group has no false match."""
    if not np.isfinite(raw[0]) or not np.isfinite(spread[0]):
        return ""
    with np.errstate(invalid="ignore"):  # infinity by infinity
        return f"({Found.of(spread / raw).whole('.2f', 1)})"


def table_of_rates(scene: Scene, measured: dict[str, Rates], level: int) -> str:
    """FMR of each group, and TPR at the common and at the own threshold: raw, then differences to it."""
    raw = measured[RAW]
    lines = [
        f"| FMR {LEVELS[level]:g} | TPR | TPR by group | FMR by group | TPR at own threshold |",
        "|---|---|---|---|---|",
    ]
    for name, rates in measured.items():
        if name == RAW:
            total = f"{100 * raw.tpr[0, level]:.1f}"
            by_group = _list(f"{100 * value:.1f}" for value in raw.group_tpr[0, level])
            own = _list(f"{100 * value:.1f}" for value in raw.own_tpr[0, level])
        else:
            total = Found.of(100 * (rates.tpr - raw.tpr)[:, level]).short()
            by_group = _differences(100 * (rates.group_tpr - raw.group_tpr)[:, level])
            own = _differences(100 * (rates.own_tpr - raw.own_tpr)[:, level])
        lines.append(f"| {name} | {total} | {by_group} | {_fmr(scene, rates, raw, level)} | {own} |")
    groups = ", ".join(scene.groups)
    lines.append(f"\nGroups: {groups}. *: the 95 % interval of the difference to the raw cosine leaves out 0.")
    lines.append(f"FMR in multiples of the wanted rate; in brackets: fewer than {FEW} false matches.")
    return "\n".join(lines)


def _fmr(scene: Scene, rates: Rates, raw: Rates, level: int) -> str:
    cells = []
    for group in range(len(scene.groups)):
        cell = f"{rates.group_fmr[0, level, group]:.2f}"
        if Found.of((rates.group_fmr - raw.group_fmr)[:, level, group]).leaves_out(0):
            cell += "*"
        if rates.false_matches[level, group] < FEW:
            cell = f"({cell})"
        cells.append(cell)
    return _list(cells)


def _differences(values: F64) -> str:
    return _list(Found.of(column).short() for column in values.T)


def _list(cells: Any) -> str:
    return " ".join(cells)


def table_of_gaps(scene: Scene, measured: dict[str, Rates], level: int) -> str:
    """Gaps between groups: raw, then differences (or ratios) to it with intervals."""
    raw = measured[RAW]
    best = int(np.argmax(raw.group_tpr[0, level]))
    worst = int(np.argmin(raw.group_tpr[0, level]))
    between = f"TPR, {scene.groups[best]} minus {scene.groups[worst]}"
    lines = [
        f"| FMR {LEVELS[level]:g} | TPR gap | (draws minus value) | {between} | FMR max/min (times raw) "
        "| worst FMR | worst TPR | TPR gap at own thresholds |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, rates in measured.items():
        wide = gap(rates.group_tpr[:, level])
        own = gap(rates.own_tpr[:, level])
        pair = 100 * (rates.group_tpr[:, level, best] - rates.group_tpr[:, level, worst])
        spread = ratio(rates.group_fmr[:, level])
        highest = rates.group_fmr[:, level].max(axis=-1)
        lowest = 100 * rates.group_tpr[:, level].min(axis=-1)
        if name == RAW:
            kept = wide, own, pair, spread, highest, lowest
            cells = [f"{wide[0]:.1f}", "", f"{pair[0]:.1f}", _times(spread[0]), f"{highest[0]:.2f}"]
            cells += [f"{lowest[0]:.1f}", f"{own[0]:.1f}"]
        else:
            change = Found.of(wide - kept[0])
            cells = [
                change.whole("+.1f", 0),
                f"{change.bias:+.1f}",
                Found.of(pair - kept[2]).whole("+.1f", 0),
                f"{_times(spread[0])} {_change_of_ratio(spread, kept[3])}".rstrip(),
                Found.of(highest - kept[4]).whole("+.2f", 0),
                Found.of(lowest - kept[5]).whole("+.1f", 0),
                Found.of(own - kept[1]).whole("+.1f", 0),
            ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write_numbers(path: Path, scene: Scene, measured: dict[str, Rates]) -> None:
    """Every rate of every group with its interval, for docs/real_faces_figure.py and for readers."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["level", "method", "group", "quantity", "value", "low", "high", "false_matches"])
        for name, rates in measured.items():
            for at, level in enumerate(LEVELS):
                for group, label in enumerate(scene.groups):
                    matches = round(float(rates.false_matches[at, group]))
                    for quantity in ("group_fmr", "group_tpr", "own_tpr"):
                        found = Found.of(getattr(rates, quantity)[:, at, group])
                        numbers = (f"{number:.6g}" for number in found[:3])
                        writer.writerow([f"{level:g}", name, label, quantity, *numbers, matches])


if __name__ == "__main__":
    main()
