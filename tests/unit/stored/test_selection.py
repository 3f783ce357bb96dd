"""Which runs fill the tables."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from made_runs import change, tables_of

from fairfr.core.errors import ConfigError
from fairfr.core.provenance import run_code
from fairfr.core.run_key import RESULTS_VERSION
from fairfr.paper.order import ORDER
from fairfr.stored.aside import LeftAside, not_chosen
from fairfr.stored.results import MixedVersionsError, Results, shown_results
from fairfr.stored.run import Run
from fairfr.stored.selection import Selection, made_by_installed_code

TARGET = "fairfr.methods.ac_density.ACDensity"
SPLITTER = "fairfr.folds.published.LeaveOneFoldOut"
Make = Callable[..., Run]


def installed(method: str) -> dict[str, str | None]:
    """The code of a run with a probability of its own, over the published folds."""
    return run_code(method, True, SPLITTER, False)


@pytest.fixture
def run(result: Make) -> Make:
    """``run(0.9, seed=1, k=500)``: a run of AC-Density with this AUROC, and its identity."""

    def make(
        auroc: float, seed: int = 0, k: int = 20, code: str | None = None, references: int | None = None, **data: Any
    ) -> Run:
        made = result("ac_density", overall={"auroc": auroc}, key=f"key-{auroc}", label="AC-Density")
        estimator = {"_target_": TARGET, "k": k, "max_references": references}
        change(
            made,
            identity={
                "results_version": RESULTS_VERSION,
                "method": {"id": "ac_density", "estimator": estimator},
                "protocol": {"id": "published", "splitter": {"_target_": SPLITTER}},
                "seed": seed,
                "code": {"method": code, "protocol": None} if code else installed(TARGET),
                "data": "d",
                **data,
            },
        )
        differs: dict[str, Any] = {"method.estimator.k": k} if k != 20 else {}
        differs |= {} if references is None else {"method.estimator.max_references": references}
        change(made, differs=differs | ({"seed": seed} if seed else {}))
        return made

    return make


def rows(found: Results) -> dict[str, float | None]:
    grid = next(grid for grid in tables_of(found) if grid.id == "appendix_auroc")
    return {
        line.label: line.entries[2].value for section in grid.sections for line in section.lines if line.entries[2].text
    }


def chosen(*results: Run, where: tuple[str, ...] = ()) -> Results:
    return shown_results(results, "files", Selection.where(where), order=ORDER)


def test_only_default_configurations_fill_the_tables(run: Make) -> None:
    found = chosen(run(0.9), run(0.99, k=500), run(0.98, seed=1))
    assert rows(found) == {"AC-Density": 0.9}
    assert len(chosen(run(0.99, k=500))) == 0, "a variant never takes the default's place"


@pytest.mark.parametrize("key", ["method.estimator.k", "estimator.k", "k"])
def test_a_variant_of_the_method_is_a_row_of_its_own(run: Make, key: str) -> None:
    found = chosen(run(0.9), run(0.99, k=500), run(0.97, k=300), run(0.98, seed=1), where=(f"{key}=500",))
    assert rows(found) == {"AC-Density": 0.9, "AC-Density (k=500)": 0.99}


def test_variants_stand_in_the_order_of_their_values(run: Make) -> None:
    runs = [run(0.9), *(run(0.5 + k / 1000, k=k) for k in (10, 40, 2))]
    found = chosen(*runs, where=("k=2,10,40",))
    assert [row.label for row in found.others] == [f"AC-Density (k={k})" for k in (2, 10, 40)]
    (grid,) = [grid for grid in tables_of(found) if grid.id.startswith("appendix_summary")]
    labels = [line.label for line in grid.lines()]
    assert labels == [f"AC-Density (k={k})" for k in (20, 2, 10, 40)], "the default first, with its value"


def test_methods_that_have_no_such_field_stay_beside_the_variant(run: Make, result: Make) -> None:
    baseline = result("baseline", overall={"auroc": 0.5}, label="Baseline", key="key-baseline")
    change(baseline, identity={"results_version": RESULTS_VERSION, "seed": 0})
    found = chosen(run(0.9), run(0.99, k=500), baseline, where=("k=500",))
    assert rows(found) == {"Baseline": 0.5, "AC-Density": 0.9, "AC-Density (k=500)": 0.99}
    assert rows(chosen(run(0.98, seed=1), baseline, where=("seed=1",))) == {"AC-Density": 0.98}


@pytest.mark.parametrize("key", ["max_references", "dataset.max_references", "method.estimator.max_references"])
def test_a_data_sets_key_that_methods_carry_means_their_field(run: Make, key: str) -> None:
    runs = run(0.9), run(0.99, references=500), run(0.97, references=300)
    assert rows(chosen(*runs, where=(f"{key}=500",))) == {"AC-Density": 0.9, "AC-Density (max_references=500)": 0.99}


def test_conditions_on_what_methods_share_choose_and_captions_say_so(run: Make) -> None:
    found = chosen(run(0.9), run(0.98, seed=1), where=("seed=1",))
    assert rows(found) == {"AC-Density": 0.98} and found.shared == {"seed": 1}
    assert all("All runs with seed=1." in grid.caption for grid in tables_of(found))
    both = chosen(run(0.9), run(0.98, seed=1), run(0.97, seed=1, k=500), where=("seed=1", "k=500"))
    assert rows(both) == {"AC-Density": 0.98, "AC-Density (k=500)": 0.97}


def test_numbers_are_read_as_people_type_them(run: Make) -> None:
    made = run(0.99)
    change(made, differs={"method.estimator.alpha": 1e6})
    assert rows(chosen(made, where=("alpha=1e6",))) == {"AC-Density (alpha=1e+06)": 0.99}


def test_a_key_that_no_run_has_is_an_error(run: Make) -> None:
    with pytest.raises(ConfigError, match=r"method\.estimator\.kk.*Did you mean 'method\.estimator\.k'"):
        chosen(run(0.9), where=("method.estimator.kk=500",))
    with pytest.raises(ConfigError, match="not key=value"):
        chosen(run(0.9), where=("k",))


def test_a_sweep_shows_all_its_cells(run: Make) -> None:
    found = shown_results(
        [run(0.9), run(0.99, k=500), run(0.98, seed=1)], "files", selection=Selection(everything=True), order=ORDER
    )
    assert rows(found) == {"AC-Density": 0.9, "AC-Density (k=500)": 0.99, "AC-Density (seed=1)": 0.98}


def finished(run: Run, day: int, **dataset: Any) -> Run:
    """The run as of a day, on a data set with these parameters."""
    change(run, finished=f"2026-01-{day:02}T00:00:00+00:00")
    change(run, identity={**run.result.identity, "dataset": {"id": "rfw", **dataset}})
    return run


def other_method(run: Run) -> Run:
    """The same as a run of Platt, by its own code."""
    change(run, method={"id": "platt", "label": "Platt", "needs": [], "native_probability": True})
    change(
        run,
        identity={
            **run.result.identity,
            "method": {"id": "platt", "estimator": {"_target_": "fairfr.methods.platt.Platt"}},
        },
    )
    change(run, identity={**run.result.identity, "code": installed("fairfr.methods.platt.Platt")})
    return run


def left_aside(found: Results) -> dict[str, LeftAside]:
    """What is not shown, by its reason; each only once here."""
    assert len({one.why for one in found.aside}) == len(found.aside)
    return {one.why: one for one in found.aside}


def hidden_variants(results: list[Run]) -> LeftAside:
    """Those that nobody asked for."""
    (found,) = not_chosen(results, Selection().hidden(results))
    assert found.why == "variant"
    return found


def words(options: str) -> tuple[str, ...]:
    """What a shell makes of ``--where ...``, without the flags."""
    return tuple(word for word in shlex.split(options) if word != "--where")


def test_of_several_default_configurations_the_newest_decides_for_the_whole_setting(run: Make) -> None:
    """Run without groups, notice, run one method with them: the other method's older run does not stand beside it."""
    results = [
        finished(run(0.8), 1, grouping=[]),
        finished(other_method(run(0.7)), 2, grouping=[]),
        finished(run(0.9), 3, grouping=["sex"]),
    ]
    for order in (results, results[::-1]):
        found = chosen(*order)
        assert rows(found) == {"AC-Density": 0.9}
        (aside,) = found.aside
        assert aside.why == "configuration" and len(aside.runs) == 2
        assert "2 runs have another configuration (grouping=[])" in aside.said
        again = chosen(*order, where=words(str(aside.options)))
        assert rows(again) == {"AC-Density": 0.8, "Platt": 0.7} and "configuration" not in left_aside(again)
    notes = [note for grid in tables_of(chosen(*results)) for note in grid.notes]
    commands = {command for note in notes if note.code == "not_shown" for command in note.commands}
    assert commands == {"fairfr tables --where 'dataset.grouping=[]'"}, "the tables say so"


def test_runs_on_edited_files_replace_those_before_the_edit_for_all_methods(run: Make) -> None:
    results = [finished(run(0.9, data="1e23456789"), 2), finished(other_method(run(0.8, data="1e23456789")), 3)]
    results += [finished(run(0.7, data="ab3456789c"), 5)]
    found = chosen(*results)
    assert rows(found) == {"AC-Density": 0.7}
    options = str(left_aside(found)["configuration"].options)
    assert options == "--where data=1e234567", "digits, although it looks like a number"
    again = chosen(*results, where=words(options))
    assert rows(again) == {"AC-Density": 0.9, "Platt": 0.8}


def test_a_variant_of_a_newer_configuration_does_not_take_a_default_s_place(run: Make) -> None:
    found = chosen(finished(run(0.9), 1, grouping=[]), finished(run(0.8, k=500), 2, grouping=["sex"]))
    assert rows(found) == {"AC-Density": 0.9} and left_aside(found).keys() == {"variant"}


def test_of_runs_before_and_after_an_edit_the_present_code_counts(run: Make) -> None:
    for made in ([run(0.9), run(0.8, code="old")], [run(0.8, code="old"), run(0.9)]):
        found = chosen(*made)
        assert rows(found) == {"AC-Density": 0.9}
        older = left_aside(found)["older"]
        assert older.cells == {("rfw", "magface", "ac_density")} and older.options is None
        assert older.said.startswith("1 older run of the same configuration (rfw x magface x ac_density);")
    alone = chosen(run(0.8, code="old"))
    assert rows(alone) == {"AC-Density": 0.8} and alone.stale == {("rfw", "magface", "ac_density")}
    notes = [note for grid in tables_of(alone) if grid.id == "appendix_auroc" for note in grid.notes]
    assert any(note.code == "stale" and "ac_density" in note.text for note in notes), "and the table says so"
    assert chosen(run(0.9)).stale == set()


@pytest.fixture
def received(run: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Run, Path]]:
    """A run whose class lies in a package that came with it, where Python finds it, and what its code leaves behind."""
    package, trace = tmp_path / "came_along", tmp_path / "it_ran"
    package.mkdir()
    for name in ("__init__.py", "method.py"):
        (package / name).write_text(f"open({str(trace)!r}, 'w')\nraise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    made = run(0.9, code="theirs")
    identity = made.result.identity
    change(made, identity={**identity, "method": {"id": "x", "estimator": {"_target_": "came_along.method.Mine"}}})
    yield made, trace
    assert "came_along" not in sys.modules


def configured(folder: Path) -> tuple[Path, ...]:
    (folder / "method").mkdir(parents=True)
    text = "id: mine\nlabel: Mine\nestimator: {_target_: came_along.method.Mine}\n"
    (folder / "method" / "mine.yaml").write_text(text)
    return (folder,)


def test_what_a_run_names_is_not_looked_at_unless_a_configuration_names_it(
    received: tuple[Run, Path], tmp_path: Path
) -> None:
    """Such a run is shown, and called neither current nor stale; its code is never run."""
    made, trace = received
    assert made_by_installed_code(made) is None
    found = chosen(made)
    assert rows(found) == {"AC-Density": 0.9} and not found.stale and not trace.exists()
    made.config_dirs = configured(tmp_path / "mine")
    assert made_by_installed_code(made) is False and chosen(made).stale and not trace.exists()
    code = run_code("came_along.method.Mine", made.gives_probability, SPLITTER, False)
    change(made, identity={**made.result.identity, "code": code})
    assert made_by_installed_code(made) is True and not chosen(made).stale and not trace.exists()


def test_a_splitter_that_no_configuration_names_is_not_looked_at(run: Make) -> None:
    made = run(0.9)
    identity = made.result.identity
    change(made, identity={**identity, "protocol": {"splitter": {"_target_": "antigravity.Folds"}}})
    assert made_by_installed_code(made) is None and not chosen(made).stale


def test_of_runs_that_cannot_be_compared_the_newest_counts(received: tuple[Run, Path], run: Make) -> None:
    made, _ = received
    late = run(0.8)
    change(late, identity=made.result.identity)
    assert rows(chosen(finished(made, 1), finished(late, 2))) == {"AC-Density": 0.8}


@pytest.mark.parametrize("text", ["id: [", "estimator: {_target_: \x01}", None])
def test_folders_of_configurations_that_cannot_be_used_are_named(tmp_path: Path, run: Make, text: str | None) -> None:
    made = run(0.9)
    made.config_dirs = (tmp_path / "mine",)
    if text is not None:
        (tmp_path / "mine" / "method").mkdir(parents=True)
        (tmp_path / "mine" / "method" / "broken.yaml").write_text(text)
    with pytest.raises(ConfigError, match="mine is not a folder" if text is None else r"broken\.yaml is not readable"):
        chosen(made)


def test_of_code_versions_that_can_no_longer_be_read_the_newest_counts(run: Make) -> None:
    results = [finished(run(0.8, code="old"), 2), finished(run(0.7, code="older"), 1)]
    found = chosen(*results)
    assert rows(found) == {"AC-Density": 0.8}
    assert left_aside(found)["older"].cells == found.stale == {("rfw", "magface", "ac_density")}


def test_a_run_that_was_named_by_a_key_which_no_longer_counts_does_not_compete(run: Make) -> None:
    earlier = run(0.8, dataset={"id": "rfw", "max_references": None})
    assert rows(chosen(earlier, run(0.9, dataset={"id": "rfw"}))) == {"AC-Density": 0.9}


def test_results_of_different_versions_do_not_stand_in_one_table(run: Make, result: Make) -> None:
    old, new = run(0.9), result("baseline", overall={"auroc": 0.5})
    change(new, identity={"results_version": RESULTS_VERSION - 1})
    with pytest.raises(MixedVersionsError, match=rf"version {RESULTS_VERSION - 1}: rfw x magface x baseline"):
        chosen(old, new)


def test_a_condition_that_chooses_nothing_is_an_error_that_says_what_is_near(run: Make) -> None:
    with pytest.raises(ConfigError, match=r"k=500 matches no run\. Runs that have it differ by: k=500, seed=1"):
        chosen(run(0.9), run(0.8, k=500, seed=1), where=("k=500",))


def test_metrics_of_different_versions_do_not_stand_in_one_table(run: Make, result: Make) -> None:
    old, new = run(0.9), result("baseline", overall={"auroc": 0.5})
    change(old, metrics_version="1-a")
    change(new, metrics_version="2-b")
    with pytest.raises(MixedVersionsError, match=r"fairfr rescore .*scripts/rescore\.py"):
        chosen(old, new)


def test_a_condition_that_only_runs_of_the_other_source_meet_is_no_mistake(run: Make) -> None:
    here, there = run(0.9), run(0.8)
    change(there, source="synthetic")
    change(there, differs={"dataset.standin.scale": 0.2})
    chosen_by = Selection.where(["standin.scale=0.2"])
    assert len(shown_results([here, there], "files", selection=chosen_by)) == 0
    assert [found.result.key for found in shown_results([here, there], "synthetic", selection=chosen_by)] == ["key-0.8"]
    by_method = Selection.where(["k=500"])
    change(there, differs={"method.estimator.k": 500})
    change(here, identity={**here.result.identity, "method": {"id": "ac_density"}})
    assert len(shown_results([here, there], "files", selection=by_method)) == 1, (
        "a field of methods adds rows, and takes none away"
    )


@pytest.mark.parametrize("text", ["k=300,500", "estimator.k=500,300"])
def test_a_condition_with_commas_is_a_list(run: Make, text: str) -> None:
    found = chosen(run(0.9), run(0.99, k=500), run(0.97, k=300), run(0.96, k=100), where=(text,))
    assert rows(found) == {"AC-Density": 0.9, "AC-Density (k=300)": 0.97, "AC-Density (k=500)": 0.99}
    with pytest.raises(ConfigError, match="k=7 matches no run"):
        chosen(run(0.9), run(0.99, k=500), where=("k=500,7",))


def test_commas_inside_brackets_are_part_of_the_value(run: Make) -> None:
    both, one = run(0.8), run(0.7)
    change(both, differs={"dataset.grouping": ["a", "b"]})
    change(one, differs={"dataset.grouping": ["a"]})
    assert rows(chosen(run(0.9), both, one, where=("grouping=[a,b]",))) == {"AC-Density": 0.8}
    found = chosen(run(0.9), both, one, where=("grouping=[a],[a,b]",))
    assert rows(found) == {"AC-Density (grouping=[a,b])": 0.8, "AC-Density (grouping=[a])": 0.7}


def test_one_command_shows_all_hidden_variants_beside_the_defaults(run: Make) -> None:
    grouped, scaled, elsewhere = run(0.7), run(0.5), run(0.4)
    change(grouped, differs={"dataset.grouping": ["gender", "a b"], "method.estimator.C": 0.1234567})
    change(scaled, differs={"dataset.standin.scale": 0.2})
    change(elsewhere, differs={"protocol": "mine"})
    change(elsewhere, protocol="mine")
    results = [run(0.9), run(0.8, k=500), run(0.81, k=300), run(0.6, seed=1), grouped, scaled, elsewhere]
    hidden = hidden_variants(results)
    assert len(hidden.runs) == 6
    options = str(hidden.options)
    assert "--where method.estimator.k=500,300 " in options and "--where seed=0,1" in options
    shown = chosen(*results, where=words(options))
    assert len(shown) == 7 and rows(shown)["AC-Density (seed=1)"] == 0.6 and rows(shown)["AC-Density"] == 0.9


def test_of_many_values_five_are_named_the_default_among_them(run: Make) -> None:
    seeds = [run(0.5 + 0.001 * seed, seed=seed) for seed in range(1, 30)]
    variants = [run(0.6 + 0.001 * k, k=k) for k in range(30, 37)]
    results = [*seeds, *variants, run(0.9)]
    hidden = hidden_variants(results)
    assert hidden.options == "--where seed=0,1,2,3,4 --where method.estimator.k=30,31,32,33,34"
    said = "The command leaves out 25 values of seed. The command leaves out 2 values of method.estimator.k."
    assert hidden.said.endswith(f"default configuration. {said}")
    assert "leaves out" not in hidden_variants([*seeds[:4], run(0.9)]).said


def test_values_that_nobody_types_are_not_printed(run: Make) -> None:
    endless = run(0.7)
    change(endless, differs={"method.estimator._target_": ".".join("a" * 3000)})
    hidden = hidden_variants([run(0.9), run(0.8, k=500), endless])
    assert hidden.options == "--where method.estimator.k=500"
    assert hidden.said.endswith("configuration. Values of more than 200 characters are not printed.")
    assert hidden_variants([run(0.9), endless]).options is None


def test_what_is_hidden_counts_cells_alone(run: Make) -> None:
    results = [run(0.9), run(0.8, k=500), run(0.81, k=500, code="old"), run(0.6, seed=1)]
    change(results[-1], study="low_fpr")
    assert len(Selection().hidden(results)) == 2
    assert len(Selection.where(["seed=0"]).hidden(results)) == 2 and not Selection(everything=True).hidden(results)


def test_a_study_that_is_asked_for_fills_the_tables_alone_with_all_that_it_varies(run: Make) -> None:
    plain = run(0.9, study="mine")
    variant = run(0.8, k=500, study="mine")
    other = run(0.7, study="another")
    for made, study, differs in ((plain, "mine", {}), (variant, "mine", {"k": 500}), (other, "another", {})):
        varied = {f"method.estimator.{key}": value for key, value in differs.items()}
        change(made, study=study, differs={"study": study, **varied})
    results = [run(0.6), plain, variant, other]
    assert rows(chosen(*results)) == {"AC-Density": 0.6}
    assert rows(chosen(*results, where=("study=mine",))) == {"AC-Density": 0.9, "AC-Density (k=500)": 0.8}
    assert Selection.where(["study=mine"]).hidden(results) == [results[0]]
    with pytest.raises(ConfigError, match="study=nothing matches no run"):
        chosen(*results, where=("study=nothing",))
