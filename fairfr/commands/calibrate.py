"""Fit and save a calibrator, score new pairs, find its threshold.

  fairfr calibrate fit dataset=mine backbone=mynet method=ac_hinge \\
      --out mine.fairfr
  fairfr calibrate threshold --model mine.fairfr --fmr 1e-3 --keep

fairfr calibrate PART --help says more.

next: fairfr calibrate score --model mine.fairfr --pairs new.csv --out s.csv
"""

import argparse
import json
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from fairfr.commands._calibrate_parser import make_parser
from fairfr.commands._help import note_old_names
from fairfr.commands._messages import run_and_print
from fairfr.core.errors import ConfigError, DataError, FairfrError
from fairfr.core.text import plural


def main() -> None:
    """Do what the first word says."""
    parser = make_parser(__doc__ or "")
    options, rest = parser.parse_known_args()
    note_old_names(parser, sys.argv[1:])
    if options.do == "fit":
        fit(options, rest)
    elif rest:
        sys.exit(f"fairfr calibrate {options.do}: unknown argument '{rest[0]}'. See fairfr calibrate {options.do} -h")
    else:
        run_and_print(lambda: str({"score": score, "threshold": threshold, "inspect": inspect}[options.do](options)))


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
            run_job(config, is_last=False)
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
    model.save(options.out, with_face_vectors=True)  # what is in it is printed below
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
    words = ["fairfr", "calibrate", "threshold", "--model", str(options.out), "--fmr", "1e-3", "--keep"]
    if str(settings.out_root) != "outputs":
        words += ["--out-root", str(settings.out_root)]
    print(f"next: {shlex.join(words)}")


def _check_faces(model: Any, options: argparse.Namespace) -> None:
    """ConfigError where a model with face vectors would be copied to MLflow unasked."""
    from fairfr.library.face_vectors import KEY, holds_text

    if model.holds_[KEY] and not options.with_face_vectors:
        raise ConfigError(
            f"{options.out} is written, but not registered: it has {holds_text(model.holds_)}. MLflow would get a "
            "copy. If it may have them, add --with-face-vectors --force; docs/methods.md lists methods that keep none."
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
    from fairfr.library.threshold import ThresholdRequest, find_threshold, held_out_scores
    from fairfr.library.threshold_text import kept_text, threshold_text

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
    pages.append(f"next: {_after_threshold(options)}")
    return "\n\n".join(pages)


def _after_threshold(options: argparse.Namespace) -> str:
    """Scoring with a threshold that is kept, or else keeping it."""
    model = str(options.model)
    if options.keep:
        return shlex.join(
            ["fairfr", "calibrate", "score", "--model", model, "--pairs", "new.csv", "--out", "scored.csv"]
        )
    rates = [f"{fmr:g}" for fmr in options.fmr or (1e-3,)]
    words = ["fairfr", "calibrate", "threshold", "--model", model, "--fmr", *rates, "--keep"]
    if options.out_root != Path("outputs"):
        words += ["--out-root", str(options.out_root)]
    return shlex.join(words)


def inspect(options: argparse.Namespace) -> str:
    """What is in the file."""
    from fairfr.library.model_card import card_text, inspect

    about = inspect(options.model or options.file)
    return json.dumps(about, indent=1) if options.json else card_text(about)
