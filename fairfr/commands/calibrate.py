"""Fit and save a calibrator, score new pairs with it, find its threshold, inspect a saved one.

fairfr calibrate fit dataset=mine backbone=mynet method=ac_hinge --out mine.fairfr
fairfr calibrate score --model mine.fairfr --pairs new.csv --embeddings new.npz --out scores.parquet
fairfr calibrate threshold --model mine.fairfr --fmr 1e-3 --confidence 0.95 --keep
fairfr calibrate inspect mine.fairfr

fit takes the overrides of fairfr run. From a checkout: python scripts/calibrate.py
"""

import argparse
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from fairfr.commands._messages import run_and_print
from fairfr.core.errors import ConfigError, DataError, FairfrError
from fairfr.core.text import plural


def main() -> None:
    """Do what the first word says."""
    options, rest = arguments().parse_known_args()
    if options.do == "fit":
        fit(options, rest)
    elif rest:
        sys.exit(f"fairfr calibrate {options.do}: unknown argument '{rest[0]}'. See fairfr calibrate {options.do} -h")
    else:
        run_and_print(lambda: str({"score": score, "threshold": threshold, "inspect": inspect}[options.do](options)))


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    kinds = parser.add_subparsers(dest="do", required=True, metavar="{fit,score,threshold,inspect}")

    def kind(name: str, about: str, **more: Any) -> argparse.ArgumentParser:
        return kinds.add_parser(name, help=about, description=about, allow_abbrev=False, formatter_class=raw, **more)

    _fit_arguments(kind("fit", "fit on all folds, after the same configuration was run on held-out ones", usage=FIT))
    _score_arguments(kind("score", "probabilities of new pairs"))
    _threshold_arguments(kind("threshold", "the threshold for a false match rate, and what to expect at it"))
    inspected = kind("inspect", "what is in a model's file")
    inspected.add_argument("model", type=Path)
    inspected.add_argument("--json", action="store_true", help="for programs")
    return parser


FIT = (
    "fairfr calibrate fit [dataset=... backbone=... method=... data_root=... ...] --out FILE "
    "[--force] [--register NAME [--with-faces]]"
)


def _fit_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="the model, such as mine.fairfr")
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    parser.add_argument("--register", metavar="NAME", help="also log it to MLflow, and register it under this name")
    parser.add_argument("--with-faces", action="store_true", help="register it although face vectors are in the file")


def _score_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--model", type=Path, required=True, help="from fit, or from model.save")
    add("--pairs", type=Path, required=True, help="csv or parquet with columns left and right; others are passed on")
    add("--embeddings", type=Path, help="npz with image (n,) and vectors (n, d); without: --pairs has scores")
    add("--score", metavar="COL", help="the column of scores in --pairs, without --embeddings (default: cosine)")
    add("--images", type=Path, help="csv or parquet with image and the groups (or identity) that the method needs")
    add("--out", type=Path, required=True, help=".parquet or .csv; an interrupted call goes on where it was")
    add("--prior", type=float, metavar="P", help="share of genuine pairs here: their probability, and a column llr")
    add("--config-dir", type=Path, action="append", default=[], metavar="DIR", help="of a model of your own method")
    add("--threads", type=int, help="default: all cores, or OMP_NUM_THREADS")
    add("--block", type=int, default=2**18, help="pairs at a time (default: %(default)s)")


def _threshold_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--model", type=Path, required=True, help="from fairfr calibrate fit")
    add("--fmr", type=float, nargs="+", default=[], help="wanted false match rate, such as 1e-3; or several")
    add("--threshold", type=float, metavar="T", help="a threshold in use: the rates at it")
    add("--confidence", type=float, default=0.95, help="of the intervals (default: 0.95)")
    add("--on", choices=("probability", "score"), default="probability", help="what is compared (default: %(default)s)")
    add(
        "--rule",
        choices=("both", "first"),
        default="both",
        help="count a pair for a group if both images, or the left one, belong to it",
    )
    add("--draws", type=int, help=argparse.SUPPRESS)  # of scripts from when intervals were drawn
    add("--out-root", type=Path, default=Path("outputs"), help="where runs/ is (default: outputs)")
    add("--run", type=Path, metavar="DIR", help="the run's folder, if it was moved")
    add("--keep", action="store_true", help="write it, with the rates, into the model's file: model.threshold(fmr=...)")
    add("--json", action="store_true", help="for programs")


def fit(options: argparse.Namespace, overrides: list[str]) -> None:
    """Run the cell (or find it done), which shows what the method does on held-out pairs; then fit on all of them."""
    from fairfr.core.config import CONF_DIR
    from fairfr.sweep import guarded

    guarded(lambda: _run_and_fit(options), overrides, CONF_DIR)


def _run_and_fit(options: argparse.Namespace) -> None:
    import hydra
    from omegaconf import DictConfig

    from fairfr.core.config import CONF_DIR
    from fairfr.sweep import read_settings, run_job
    from fairfr.sweep.job import EXIT_NOT_LOGGED

    _check_place(options.out, options.force)
    if {"-m", "--multirun"} & set(sys.argv):
        raise ConfigError("fit makes one model of one configuration: leave out -m, and call it for each.")
    found: list[Any] = []

    @hydra.main(version_base="1.3", config_path=str(CONF_DIR), config_name="config")
    def run(config: DictConfig) -> None:
        try:
            run_job(config)
        finally:
            with suppress(FairfrError):  # which run_job has shown
                found.append(read_settings(config)[0])

    code = None
    try:
        run()
    except SystemExit as error:
        if error.code != EXIT_NOT_LOGGED:
            raise
        code = error.code  # the run is stored, MLflow can have it later
    for settings in found:  # none where Hydra was only asked to show something
        _fit_and_save(settings, options)
    if code is not None:
        sys.exit(code)


def _fit_and_save(settings: Any, options: argparse.Namespace) -> None:
    from fairfr.library.face_vectors import holds_text
    from fairfr.sweep.final_fit import fit_on_all_folds

    if options.register and settings.store.id == "folder":
        raise ConfigError("--register needs MLflow, and store=folder does without. Leave one of them out.")
    model = fit_on_all_folds(settings)
    model.save(options.out, with_faces=True)  # what is in it is printed below
    print(f"model: {options.out} ({type(model).__name__}, fitted on all {model.training_['pairs']:,} pairs)")
    print(f"in the file: {holds_text(model.holds_)}")
    print("The table above is from pairs that the method was not fitted on. Report these held-out results.")
    if options.register:
        _check_faces(model, options)
        from fairfr.library.mlflow_model import log_model

        assert model.origin_ is not None
        key = model.origin_["run"]["key"]
        content = f"{type(model).__name__}: {holds_text(model.holds_)}"
        place = log_model(settings.store, Path(settings.out_root), options.out, key, options.register, content)
        print(f"registered in MLflow: {place}")


def _check_faces(model: Any, options: argparse.Namespace) -> None:
    """ConfigError where a model with face vectors would be copied to MLflow unasked."""
    from fairfr.library.face_vectors import KEY, holds_text

    if model.holds_[KEY] and not options.with_faces:
        raise ConfigError(
            f"{options.out} is written, but not registered: it has {holds_text(model.holds_)}. MLflow would get a "
            "copy. If it may have them, add --with-faces --force; if not, docs/methods.md lists methods that keep none."
        )


def _check_place(out: Path, force: bool) -> None:
    """DataError for a file that cannot or may not be written; checked before anything is computed."""
    if out.is_dir() or not out.absolute().parent.is_dir():
        what = "is a folder" if out.is_dir() else f"cannot be written: there is no folder {out.absolute().parent}"
        raise DataError(f"{out} {what}. Name a file, such as --out mine.fairfr.")
    if out.exists() and not force:
        raise DataError(f"{out} is there already. Name another file, or replace it with --force.")


def score(options: argparse.Namespace) -> str:
    """New pairs."""
    from fairfr.commands._score_bar import ScoringProgress
    from fairfr.library.scoring import ScoreOptions, score_pairs

    names = ("model", "pairs", "out", "embeddings", "images", "threads", "block", "prior", "score")
    with ScoringProgress() as bar:
        given = {name: getattr(options, name) for name in names}
        rows = score_pairs(ScoreOptions(**given, config_dir=tuple(options.config_dir)), bar)
    done = f"{options.out}: {plural(rows, 'pair')} scored"
    if bar.kept:
        done += f", {plural(bar.kept, 'block')} from before"
    return "\n".join([done, *bar.said])


def threshold(options: argparse.Namespace) -> str:
    """The operating point."""
    from fairfr.library.model_file import keep_thresholds
    from fairfr.library.threshold import ThresholdRequest, find_threshold, held_out_scores, kept_text, threshold_text

    as_asked = {"confidence": options.confidence, "on": options.on, "rule": options.rule}
    wanted = [ThresholdRequest(fmr, **as_asked) for fmr in options.fmr]
    if options.threshold is not None or not wanted:
        if options.keep:
            raise ConfigError("--keep is for thresholds that are found for a rate: name --fmr, and no --threshold.")
        wanted.insert(0, ThresholdRequest(threshold=options.threshold, **as_asked))
    scores = held_out_scores(options.model, options.out_root, options.run)
    found = [find_threshold(scores, one) for one in wanted]
    pages = [threshold_text(one) for one in found]
    if options.keep:
        keep_thresholds(options.model, found)
        pages.append(kept_text(options.model, found))
    if options.json:
        return json.dumps(found[0] if len(found) == 1 else found, indent=1)
    return "\n\n".join(pages)


def inspect(options: argparse.Namespace) -> str:
    """What is in the file."""
    from fairfr.library.model_card import card_text, inspect

    about = inspect(options.model)
    return json.dumps(about, indent=1) if options.json else card_text(about)
