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
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, fields, replace
from functools import partial
from pathlib import Path

import numpy as np
import yaml
from standin_goals import HEADLINE, PLAUSIBLE, SETS, STUDY, Goal, printed_goal
from standin_metrics import FitBudget, mean_over_seeds, measure, variant

from fairfr.core.config import from_mapping
from fairfr.core.errors import FairfrError
from fairfr.core.types import F64
from fairfr.data.settings import DatasetSettings
from fairfr.data.synthetic import BackboneModel, backbone_model

ROOT = Path(__file__).resolve().parents[1]
LOWEST = BackboneModel(5.0, 0.3, 0.02, 1e-5, 0.01, crowding=0.05, drift=0.005, subgroup_slope=0.02)
HIGHEST = BackboneModel(2000.0, 2.0, 1.5, 0.3, 1.6, crowding=0.92, drift=1.5, subgroup_slope=1.2)
# relative steps of finite differences: wide, because single images make the figures jump
DIFFERENCE = BackboneModel(0.08, 0.04, 0.08, 0.3, 0.1, crowding=0.06, drift=0.2, subgroup_slope=0.15)
FIRST_STEP = 0.3  # how far the numbers may go together in the first step, in logarithms
PULL = 0.3  # tolerances for a number e times as large as at the start, where the figures are too few to say
# Where else to start than from conf/dataset. LFW alone has more than one valley: with little crowding and with much.
STARTS: dict[str, tuple[BackboneModel, ...]] = {
    "lfw": (
        BackboneModel(60.0, 0.95, 0.6, 0.002, 0.4, crowding=0.3, drift=0.3, subgroup_slope=0.4),
        BackboneModel(90.3, 0.781, 1.249, 0.0001, 1.256, crowding=0.85, drift=0.247, subgroup_slope=0.537),
    ),
}
# Seeds above 100 are for fitting, so that those in conf/dataset and for checks are fresh. LFW needs many: its worst
# group is mostly chance. BFW has pairs to spare.
BUDGET = {
    "rfw": FitBudget(seeds=(101, 102, 103)),
    "bfw": FitBudget(seeds=(101, 102), share=0.2),
    "lfw": FitBudget(seeds=tuple(range(101, 109))),
}
STUDY_SHARE = {"rfw": 1.0, "bfw": 0.5}


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
    dataset = from_mapping(DatasetSettings, yaml.safe_load(path.read_text(encoding="utf-8")))
    assert dataset.standin is not None
    if options.scale is None:
        return dataset
    return replace(dataset, standin=replace(dataset.standin, scale=options.scale))


def budget_of(dataset: DatasetSettings, backbone: str, options: argparse.Namespace) -> FitBudget:
    """The script's, with what the command line changes."""
    assert dataset.standin is not None
    budget = BUDGET[dataset.id]
    if dataset.id != "lfw" and (dataset.id, backbone) in STUDY:
        # other seeds vary by more than NEAR, which is asked of this one
        budget = replace(budget, seeds=(dataset.standin.seed,), share=STUDY_SHARE[dataset.id])
    changes = {key: getattr(options, key) for key in ("seeds", "share", "steps", "rounds")}
    return replace(budget, **{key: value for key, value in changes.items() if value is not None})


def start_of(dataset: DatasetSettings, backbone: str) -> BackboneModel:
    """conf's numbers; where no Baseline is printed, the context of the headline settings' mean."""
    assert dataset.standin is not None
    model = backbone_model(dataset.id, backbone, dataset.standin)
    if (dataset.id, backbone) not in PLAUSIBLE:
        return model
    headline_models = [dataset.standin.backbones[name] for name in HEADLINE]
    mean = {
        key: float(f"{np.mean([getattr(each, key) for each in headline_models]):.4g}")
        for key in ("crowding", "drift", "subgroup_slope")
    }
    return replace(model, **mean)


def fit_model(
    dataset: DatasetSettings,
    backbone: str,
    goal: Goal,
    budget: FitBudget,
    starts: Sequence[BackboneModel] = (),
    on_try: Callable[[BackboneModel, tuple[float, ...]], None] = lambda model, figures: None,
) -> BackboneModel:
    """The model that comes nearest to ``goal``, from the one in ``dataset`` and from ``starts``, with four digits.

    Damped Gauss-Newton (a trust region) over the numbers' logarithms. Every try draws from the same seeds, so that
    two tries differ by their numbers alone and not by chance. The slopes are finite differences at the start of a
    round and stay during it: they change little on the way, and cost a try for each number. Every start has one
    round, and the nearest goes on. Where the goal has fewer figures than free numbers, a weak pull keeps the numbers
    near the start: what the figures leave open stays as it was.
    """
    assert dataset.standin is not None
    names = [each.name for each in fields(BackboneModel)]
    free = np.array([name not in goal.fixed for name in names])
    low, high = np.array(astuple(LOWEST))[free], np.array(astuple(HIGHEST))[free]

    def fit_from(start: F64, steps: int) -> tuple[float, F64]:
        """Half the squared misses that are left, and the numbers, after one round."""
        from scipy.optimize import least_squares

        start = start.copy()
        start[free] = np.clip(start[free], 1.01 * low, 0.99 * high)

        def misses(step: F64) -> F64:
            numbers = start.copy()
            numbers[free] *= np.exp(step)
            model = BackboneModel(*numbers.tolist())
            reached = mean_over_seeds(dataset, backbone, model, budget, goal.figures)
            on_try(model, reached)
            pull = PULL * step if len(goal.figures) < len(step) else np.empty(0)
            return np.concatenate([goal.misses(reached), pull])

        here = np.zeros(int(free.sum()))
        at_start = misses(here)
        slopes = _slopes(misses, at_start, np.log1p(np.array(astuple(DIFFERENCE))[free]))
        best = least_squares(
            lambda step: misses(step) if step.any() else at_start,
            here,
            jac=lambda step: slopes,
            bounds=(np.log(low / start[free]), np.log(high / start[free])),
            x_scale=FIRST_STEP,
            ftol=1e-2,
            max_nfev=1 + steps,
        )
        start[free] *= np.exp(best.x)
        return float(best.cost), start

    own = backbone_model(dataset.id, backbone, dataset.standin)
    tried = [fit_from(np.array(astuple(model)), budget.steps) for model in (own, *starts)]
    cost, numbers = min(tried, key=lambda one: one[0])
    for _ in range(1, budget.rounds):
        cost, numbers = min((cost, numbers), fit_from(numbers, budget.steps), key=lambda one: one[0])
    return BackboneModel(*(float(f"{number:.4g}") for number in numbers))


def _slopes(function: Callable[[F64], F64], at_start: F64, steps: F64) -> F64:
    """Forward differences (misses, numbers) of ``function``, which is ``at_start`` (misses,) at 0."""
    return np.stack([(function(step) - at_start) / step.sum() for step in np.diag(steps)], axis=1)


def report(dataset: DatasetSettings, backbone: str, options: argparse.Namespace) -> None:
    """Print what the numbers reach on each seed, beside what is wanted; fit them before, unless told not to."""
    assert dataset.standin is not None
    goal = printed_goal(dataset.id, backbone)
    budget = budget_of(dataset, backbone, options)
    model = backbone_model(dataset.id, backbone, dataset.standin)
    if options.check:
        budget = replace(budget, seeds=options.seeds or (dataset.standin.seed,), share=options.share or 1.0)
    else:
        starts = STARTS.get(dataset.id, ())
        if options.only_own_start or backbone not in HEADLINE:
            starts = ()
        before = variant(dataset, backbone, start_of(dataset, backbone), dataset.standin.seed)
        show_try = partial(say_try, goal=goal) if options.verbose else say_nothing
        model = fit_model(before, backbone, printed_goal(dataset.id, backbone, fitting=True), budget, starts, show_try)
    kind = "plausible" if (dataset.id, backbone) in PLAUSIBLE else "printed"
    print(f"{dataset.id} {backbone} ({kind})")
    print(f"    {yaml_line(backbone, model)}")
    show("wanted", goal.wanted, goal, judged=False)
    every = []
    for seed in budget.seeds:
        every.append(measure(variant(dataset, backbone, model, seed), backbone, goal.figures, budget.share))
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
