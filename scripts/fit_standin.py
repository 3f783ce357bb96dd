"""Fit the numbers of the synthetic stand-ins in conf/dataset to the paper's figures, or look how near they are.

python scripts/fit_standin.py rfw magface                  fit one setting; prints its yaml line and what it reaches
python scripts/fit_standin.py all --write                  fit every setting and put the numbers into conf/dataset
python scripts/fit_standin.py lfw --check --seeds 0-15     no fitting: the numbers of conf/dataset on these seeds

Headline settings are fitted to eight figures: five of the Baseline, and what AC-Linear gains in three. Fit them first:
the settings without a printed Baseline take crowding, drift and slope from their mean.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path

import numpy as np
import yaml

from fairfr.core.conform import build
from fairfr.core.errors import FairfrError
from fairfr.data.settings import DatasetSettings
from fairfr.data.synthetic import BackboneModel, model_of
from fairfr.experiment.standin_fit import BASELINE, GAINS, Effort, Figure, Figures, Goal, fit_model, measure, variant
from fairfr.paper.printed import headline

ROOT = Path(__file__).resolve().parents[1]
SETS = ("rfw", "bfw", "lfw")
HEADLINE = ("arcface_r100", "adaface", "magface")
# names in the headline tables, in the order of Figures; the Brier score of the Baseline is that of the raw cosine
PRINTED = (
    ("auroc", "all"),
    ("auroc", "worst"),
    ("tpr_at_fpr_1e-3", "all"),
    ("tpr_at_fpr_1e-3", "worst"),
    ("brier", "worst"),
)
TOLERANCE = {
    "rfw": Figures(0.005, 0.015, 0.06, 0.05, 0.01),
    "bfw": Figures(0.005, 0.015, 0.06, 0.05, 0.01),
    "lfw": Figures(0.01, 0.015, 0.06, 0.10, 0.03),  # small groups: for the seed in conf/dataset only
}
# With the wide one of LFW, which is for single seeds, a fit would give AUROC away for what AC-Linear gains.
FIT_TOLERANCE = TOLERANCE | {"lfw": TOLERANCE["lfw"]._replace(auroc=0.005)}
# of what AC-Linear gains in AUROC, worst-group AUROC and TPR; on LFW the TPR is the first to give way
GAIN_TOLERANCE = {"rfw": (0.002, 0.005, 0.01), "bfw": (0.001, 0.003, 0.01), "lfw": (0.003, 0.012, 0.04)}
# Where else to start than from conf/dataset. LFW alone has more than one valley: with little crowding and with much.
STARTS: dict[str, tuple[BackboneModel, ...]] = {
    "lfw": (
        BackboneModel(60.0, 0.95, 0.6, 0.002, 0.4, crowding=0.3, drift=0.3, subgroup_slope=0.4),
        BackboneModel(90.3, 0.781, 1.249, 0.0001, 1.256, crowding=0.85, drift=0.247, subgroup_slope=0.537),
    ),
}
# Seeds above 100 are for fitting, so that those in conf/dataset and for checks are fresh. LFW needs many: its worst
# group is mostly chance. BFW has pairs to spare.
EFFORT = {
    "rfw": Effort(seeds=(101, 102, 103)),
    "bfw": Effort(seeds=(101, 102), share=0.2),
    "lfw": Effort(seeds=tuple(range(101, 109))),
}
STUDY_SHARE = {"rfw": 1.0, "bfw": 0.5}
# The paper prints no Baseline of these. Beside each is the number that it does print for something near; the others
# are plausible companions of it.
PLAUSIBLE = {
    ("rfw", "arcface_r50"): Figures(0.994, 0.990, 0.90, 0.88, 0.142),  # text: AC-Density lifts the worst AUROC to .9951
    ("rfw", "facenet"): Figures(0.900, 0.873, 0.20, 0.165, 0.186),  # components, FaceNet-V: worst AUROC .8728
    ("bfw", "arcface_r50"): Figures(0.973, 0.945, 0.86, 0.75, 0.096),  # components: worst AUROC .9448
    ("bfw", "facenet"): Figures(0.945, 0.907, 0.56, 0.43, 0.119),  # nothing printed
    ("lfw", "arcface_r50"): Figures(0.992, 0.975, 0.96, 0.90, 0.21),  # accuracy 98.80 % (regenerated vectors)
    ("lfw", "facenet"): Figures(0.970, 0.930, 0.55, 0.35, 0.22),  # attributes: worst AUROC by gender .9593
    ("lfw", "arcface_fairface"): Figures(0.900, 0.830, 0.24, 0.05, 0.23),  # accuracy 81.68 % (original ArcFace vectors)
}

# The embedding sets of the appendix's studies. Of Platt scaling, which ranks as the cosine does, and of AC-Linear;
# mixed pairs excluded.
AUROC, ACCURACY = Figure("auroc", "auroc"), Figure("accuracy", "accuracy")
WORST_AUROC = Figure("worst_auroc", "auroc", "worst", "both")
WORST_BRIER = Figure("worst_brier", "brier", "worst", "both")
AFRICAN_AUROC, AFRICAN_BRIER = (Figure(f"african_{m}", m, "african", "both") for m in ("auroc", "brier"))
BY_ATTRIBUTE = tuple(Figure(a, "auroc", "worst", "both", a) for a in ("gender", "ethnicity", "eyeglasses"))
STUDY_TOLERANCE = {AUROC: 0.01, ACCURACY: 0.0025, WORST_BRIER: 0.005, AFRICAN_BRIER: 0.005}
STUDY_TOLERANCE |= dict.fromkeys(BY_ATTRIBUTE, 0.01)  # groups of some 25 pairs in a fold
NEAR = 0.002  # the others
# figure: (Platt, AC-Linear), None where nothing is printed
STUDY: dict[tuple[str, str], dict[Figure, tuple[float, float | None]]] = {
    ("rfw", "arcface_original"): {  # components, split; coverage
        WORST_AUROC: (0.9600, 0.9672),
        WORST_BRIER: (0.0755, 0.0672),
        AFRICAN_AUROC: (0.9618, 0.9688),
        AFRICAN_BRIER: (0.0745, 0.0659),
    },
    ("rfw", "arcface_r100_aligned"): {WORST_AUROC: (0.9903, 0.9909)},  # components
    ("rfw", "facenet_casia"): {WORST_AUROC: (0.8122, 0.8502), WORST_BRIER: (0.1906, 0.1580)},  # components, split
    ("rfw", "facenet_vggface2"): {WORST_AUROC: (0.8728, 0.8861)},  # components
    ("bfw", "sphereface"): {WORST_AUROC: (0.9372, 0.9402)},  # components, as all of BFW
    ("bfw", "arcface_r50_aligned"): {WORST_AUROC: (0.9448, 0.9454)},
    ("bfw", "adaface_aligned"): {WORST_AUROC: (0.9469, 0.9464)},
    ("bfw", "vit_b"): {WORST_AUROC: (0.9461, 0.9487)},
    ("lfw", "adaface_aligned"): {  # components, size, accuracy
        WORST_AUROC: (0.9906, 0.9905),
        AUROC: (0.9906, None),
        ACCURACY: (0.9873, 0.9875),
    },
    ("lfw", "vit_b"): {WORST_AUROC: (0.9907, 0.9908), ACCURACY: (0.9873, 0.9878)},  # components, accuracy
    ("lfw", "arcface_r50_aligned"): {ACCURACY: (0.9880, 0.9878)},  # accuracy
    ("lfw", "arcface_original"): {ACCURACY: (0.8168, 0.8472)},  # accuracy
    ("lfw", "facenet_casia"): dict(  # attributes
        zip(BY_ATTRIBUTE, ((0.9593, 0.9675), (0.9759, 0.9819), (0.9849, 0.9880)), strict=True)
    ),
}


def main() -> None:
    """Fit or check each setting that was asked for."""
    options = arguments()
    try:
        for name in SETS if options.dataset == "all" else (options.dataset,):
            dataset = settings_of(name, options)
            assert dataset.standin is not None
            for backbone in options.backbones or dataset.standin.backbones:
                report(dataset, backbone, options)
    except FairfrError as error:
        sys.exit(error.named())


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", choices=(*SETS, "all"))
    parser.add_argument("backbones", nargs="*", help="default: all that the stand-in has")
    parser.add_argument("--check", action="store_true", help="do not fit, show the numbers of conf/dataset")
    parser.add_argument("--seeds", type=seeds, help="such as 0-7 or 5,9 (default: the script's, or conf's for --check)")
    parser.add_argument("--share", type=float, help="share of the pairs to look at")
    parser.add_argument("--steps", type=int, help="most steps of the fit")
    parser.add_argument("--scale", type=float, help="size of the set, 1 is the true one")
    parser.add_argument("--rounds", type=int, help="rounds of the fit, each with slopes of its own")
    parser.add_argument("--only-own-start", action="store_true", help="fit from conf's numbers alone")
    parser.add_argument("--verbose", action="store_true", help="show every try")
    parser.add_argument("--write", action="store_true", help="put the fitted numbers into conf/dataset")
    return parser.parse_args()


def seeds(text: str) -> tuple[int, ...]:
    """``0-3`` or ``5,9``."""
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", text):
        raise argparse.ArgumentTypeError(f"'{text}' names no seeds: write 0-7 or 5,9")
    ends = [[int(end) for end in part.split("-")] for part in text.split(",")]
    return tuple(seed for end in ends for seed in range(end[0], end[-1] + 1))


def settings_of(name: str, options: argparse.Namespace) -> DatasetSettings:
    """conf/dataset's stand-in, with what the command line changes."""
    path = ROOT / "conf" / "dataset" / f"{name}.yaml"
    dataset = build(DatasetSettings, yaml.safe_load(path.read_text(encoding="utf-8")))
    assert dataset.standin is not None
    if options.scale is None:
        return dataset
    return replace(dataset, standin=replace(dataset.standin, scale=options.scale))


def goal_of(dataset: str, backbone: str, fitting: bool = False) -> Goal:
    """What is printed, or what was chosen where nothing is; the tolerances are for ``fitting`` or for single seeds."""
    if (dataset, backbone) in STUDY:
        return study_goal(STUDY[dataset, backbone])
    if (dataset, backbone) in PLAUSIBLE:
        fixed = ("crowding", "drift", "subgroup_slope")  # of the headline settings, see ``start_of``
        return Goal(PLAUSIBLE[dataset, backbone], TOLERANCE[dataset], fixed=fixed)
    printed = {
        (row.method, row.quantity.metric, row.quantity.group): row.value
        for row in headline()
        if (row.dataset, row.backbone) == (dataset, backbone)
    }
    wanted = [printed[("baseline", *place)] for place in PRINTED]
    for place in PRINTED[: len(GAINS)]:
        wanted.append(printed[("ac_linear", *place)] - printed[("baseline", *place)])
    tolerance = FIT_TOLERANCE if fitting else TOLERANCE
    return Goal(tuple(wanted), (*tolerance[dataset], *GAIN_TOLERANCE[dataset]), (*BASELINE, *GAINS))


def study_goal(printed: dict[Figure, tuple[float, float | None]]) -> Goal:
    """The appendix's figures of Platt scaling, and those of AC-Linear where it prints them."""
    wanted = {figure: platt for figure, (platt, _) in printed.items()}
    tolerance = {figure: STUDY_TOLERANCE.get(figure, NEAR) for figure in printed}
    for figure, (_, linear) in printed.items():
        if linear is not None:
            of_linear = figure._replace(name=f"linear_{figure.name}", row="ac_linear")
            wanted[of_linear], tolerance[of_linear] = linear, tolerance[figure]
    return Goal(tuple(wanted.values()), tuple(tolerance.values()), tuple(wanted))


def effort_of(dataset: DatasetSettings, backbone: str, options: argparse.Namespace) -> Effort:
    """The script's, with what the command line changes."""
    assert dataset.standin is not None
    effort = EFFORT[dataset.id]
    if dataset.id != "lfw" and (dataset.id, backbone) in STUDY:
        # other seeds vary by more than NEAR, which is asked of this one
        effort = replace(effort, seeds=(dataset.standin.seed,), share=STUDY_SHARE[dataset.id])
    changes = {key: getattr(options, key) for key in ("seeds", "share", "steps", "rounds")}
    return replace(effort, **{key: value for key, value in changes.items() if value is not None})


def start_of(dataset: DatasetSettings, backbone: str) -> BackboneModel:
    """conf's numbers; where no Baseline is printed, the context of the headline settings' mean."""
    assert dataset.standin is not None
    model = model_of(dataset.id, backbone, dataset.standin)
    if (dataset.id, backbone) not in PLAUSIBLE:
        return model
    headline_models = [dataset.standin.backbones[name] for name in HEADLINE]
    mean = {
        key: float(f"{np.mean([getattr(each, key) for each in headline_models]):.4g}")
        for key in ("crowding", "drift", "subgroup_slope")
    }
    return replace(model, **mean)


def report(dataset: DatasetSettings, backbone: str, options: argparse.Namespace) -> None:
    """Print what the numbers reach on each seed, beside what is wanted; fit them before, unless told not to."""
    assert dataset.standin is not None
    goal = goal_of(dataset.id, backbone)
    effort = effort_of(dataset, backbone, options)
    model = model_of(dataset.id, backbone, dataset.standin)
    if options.check:
        effort = replace(effort, seeds=options.seeds or (dataset.standin.seed,), share=options.share or 1.0)
    else:
        starts = STARTS.get(dataset.id, ())
        if options.only_own_start or backbone not in HEADLINE:
            starts = ()
        before = variant(dataset, backbone, start_of(dataset, backbone), dataset.standin.seed)
        show_try = partial(say_try, goal=goal) if options.verbose else say_nothing
        model = fit_model(before, backbone, goal_of(dataset.id, backbone, fitting=True), effort, starts, show_try)
    kind = "plausible" if (dataset.id, backbone) in PLAUSIBLE else "printed"
    print(f"{dataset.id} {backbone} ({kind})")
    print(f"    {yaml_line(backbone, model)}")
    show("wanted", goal.wanted, goal, judged=False)
    every = []
    for seed in effort.seeds:
        every.append(measure(variant(dataset, backbone, model, seed), backbone, goal.figures, effort.share))
        show(f"seed {seed}", every[-1], goal)
    if len(every) > 1:
        show("mean", np.mean(every, axis=0).tolist(), goal)
        show("sd", np.std(every, axis=0, ddof=1).tolist(), goal, judged=False)
    if options.write and not options.check:
        write(dataset.id, backbone, model)


def say_nothing(model: BackboneModel, reached: Sequence[float]) -> None:
    """Of a try."""


def say_try(model: BackboneModel, reached: Sequence[float], goal: Goal) -> None:
    """The squared misses of a try, and its numbers."""
    numbers = " ".join(f"{value:.4g}" for value in asdict(model).values())
    values = " ".join(f"{value:.4f}" for value in reached)
    print(f"  try {np.sum(goal.misses(reached) ** 2):8.2f}  {numbers}  ->  {values}", flush=True)


def show(name: str, reached: Sequence[float], goal: Goal, judged: bool = True) -> None:
    """One line: the figures, and whether all are inside their tolerances."""
    names, verdict = [figure.name for figure in goal.figures], ""
    if judged:
        outside = [key for key, miss in zip(names, goal.misses(reached), strict=True) if not abs(miss) <= 1]
        verdict = "  outside: " + ", ".join(outside) if outside else "  inside"
    print(f"  {name:9}" + "".join(f"  {k} {v:.4f}" for k, v in zip(names, reached, strict=True)) + verdict, flush=True)


def yaml_line(backbone: str, model: BackboneModel) -> str:
    """The line of conf/dataset."""
    return f"{backbone}: {{{', '.join(f'{key}: {value}' for key, value in asdict(model).items())}}}"


def write(dataset: str, backbone: str, model: BackboneModel) -> None:
    """Replace the setting's line and leave the rest of the file, comments too, as it is."""
    path = ROOT / "conf" / "dataset" / f"{dataset}.yaml"
    text = path.read_text(encoding="utf-8")
    line = f"    {yaml_line(backbone, model)}"
    path.write_text(re.sub(rf"(?m)^    {backbone}: \{{.*\}}$", line, text, count=1), "utf-8")


if __name__ == "__main__":
    main()
