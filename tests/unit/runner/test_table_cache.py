"""Tables that stay for the next cell, and what must not stay."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from weakref import ref

import numpy as np
import pytest

from fairfr.core.types import VerificationSet
from fairfr.data.locate import LocatedData, locate
from fairfr.data.settings import BackboneSettings, DatasetSettings
from fairfr.runner.table_cache import TableCache

MakeSet = Callable[..., VerificationSet]
NET = BackboneSettings("net", "Net")


@pytest.fixture
def data(synthetic_set: MakeSet) -> VerificationSet:
    return synthetic_set("rfw", scale=0.02)


def located(data: VerificationSet, name: str, loads: list[str], digest: str = "d") -> LocatedData:
    def load() -> VerificationSet:
        loads.append(name)
        return data

    return LocatedData("synthetic", digest, None, (DatasetSettings(name, name), NET, {}), load)


def test_the_same_data_is_loaded_once(data: VerificationSet) -> None:
    tables, loads = TableCache(), list[str]()
    (first,) = tables.of([located(data, "a", loads)], 1)
    (second,) = tables.of([located(data, "a", loads)], 1)
    assert first is second and loads == ["a"]


def test_other_bytes_settings_or_threads_are_loaded_again(data: VerificationSet) -> None:
    tables, loads = TableCache(), list[str]()
    one = located(data, "a", loads)
    for other, threads in (
        (one, 1),
        (located(data, "a", loads, digest="e"), 1),
        (located(data, "b", loads), 1),
        (one, 1),
        (one, 2),
        (replace(one, spec=(replace(one.spec[0], missing="drop"), NET, {})), 2),
    ):
        list(tables.of([other], threads))
    assert loads == ["a", "a", "b", "a", "a", "a"]


def test_what_is_not_needed_is_let_go_before_the_next_is_loaded(data: VerificationSet) -> None:
    tables = TableCache()
    (table,) = tables.of([located(data, "a", [])], 1)
    old = ref(table)
    del table
    assert old() is not None

    def load() -> VerificationSet:
        assert old() is None, "two sets would be in memory at the same time"
        return data

    list(tables.of([replace(located(data, "b", []), _load=load)], 1))
    assert old() is None


def test_the_set_to_fit_on_is_kept_beside_the_one_to_test(data: VerificationSet) -> None:
    tables, loads = TableCache(), list[str]()
    test, train = located(data, "test", loads), located(data, "train", loads)
    first = list(tables.of([test, train], 1))
    assert list(tables.of([test, train], 1)) == first and loads == ["test", "train"]
    assert list(tables.of([train], 1)) == first[1:]
    list(tables.of([test, train], 1))
    assert loads == ["test", "train", "test"]


def test_no_cell_sees_the_neighbours_that_another_looked_for(data: VerificationSet) -> None:
    tables = TableCache()
    (table,) = tables.of([located(data, "a", [])], 1)
    rows = np.arange(data.n_pairs)
    table.mean_knn_distance_within(rows, rows, 5, True)
    assert table._graph is not None
    (again,) = tables.of([located(data, "a", [])], 1)
    assert again is table and table._graph is None


def test_a_file_that_changes_between_two_cells_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "pairs.csv").write_text("fold,same,cos\n0,1,0.9\n0,0,0.1\n1,1,0.8\n1,0,0.2\n")
    dataset, backbone = DatasetSettings("mine", "Mine"), BackboneSettings("net", "Net", "cos")
    tables = TableCache()

    def cosines() -> list[float]:
        (table,) = tables.of([locate(dataset, backbone, tmp_path, "files")], 1)
        found: list[float] = table.cosine.tolist()
        return found

    assert cosines() == [0.9, 0.1, 0.8, 0.2]
    before = os.stat(folder / "pairs.csv")
    (folder / "pairs.csv").write_text("fold,same,cos\n0,1,0.7\n0,0,0.1\n1,1,0.8\n1,0,0.2\n")
    os.utime(folder / "pairs.csv", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert cosines() == [0.7, 0.1, 0.8, 0.2]


def test_vectors_against_their_labels_are_a_finding_of_the_set(data: VerificationSet) -> None:
    (table,) = TableCache().of([located(data, "a", [])], 1)
    assert [found.code for found in table.data.warnings] == [found.code for found in data.warnings]
    swapped = replace(data, same=~data.same)
    tables = TableCache()
    for _ in range(2):  # kept, not found twice
        (table,) = tables.of([located(swapped, "b", [])], 1)
    (finding,) = [found for found in table.data.warnings if found.code == "reversed-cosines"]
    assert finding.severity == "serious" and "Are the labels swapped" in finding.text
