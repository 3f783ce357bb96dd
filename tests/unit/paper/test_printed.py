"""The paper's printed numbers, as data."""

from __future__ import annotations

from collections import Counter
from dataclasses import FrozenInstanceError

import pytest

from fairfr.paper.order import GROUP_AWARE, HEADLINE, PAPER_ROWS, ROWS
from fairfr.paper.printed import (
    AUROC,
    BRIER,
    LD_TPR,
    LU_AUROC,
    TPR,
    WORST_AUROC,
    WORST_BRIER,
    WORST_TPR,
    PrintedNumber,
    printed_headline,
    printed_study,
    win_counts,
)
from fairfr.report.quantity import Quantity


def cell(quantity: Quantity, dataset: str, backbone: str, method: str) -> PrintedNumber:
    (found,) = [
        p
        for p in printed_headline()
        if (p.quantity, p.dataset, p.backbone, p.method) == (quantity, dataset, backbone, method)
    ]
    return found


def test_every_headline_cell_is_there_once() -> None:
    cells = Counter((p.quantity, p.dataset, p.backbone, p.method) for p in printed_headline())
    assert len(printed_headline()) == 711 and set(cells.values()) == {1}
    # rows of each printed table, times nine columns
    rows = {TPR: 11, WORST_AUROC: 11, WORST_BRIER: 11, LU_AUROC: 10, BRIER: 7, WORST_TPR: 11, AUROC: 11, LD_TPR: 7}
    assert Counter(p.quantity for p in printed_headline()) == {quantity: 9 * n for quantity, n in rows.items()}


def test_cells_speak_of_the_tables_rows_and_columns() -> None:
    assert {(p.dataset, p.backbone) for p in printed_headline()} == set(HEADLINE)
    assert {p.method for p in printed_headline()} == {row.id for row in PAPER_ROWS} == {row.printed for row in ROWS}
    assert not any(p.bold for p in printed_headline() if p.method in {row.id for row in GROUP_AWARE})


@pytest.mark.parametrize(
    ("quantity", "where", "text", "value", "bold"),
    [
        (TPR, ("rfw", "arcface_r100", "faircal"), "0.659", 0.659, False),
        (TPR, ("rfw", "arcface_r100", "ac_density"), "0.649", 0.649, True),
        (WORST_AUROC, ("bfw", "magface", "oracle"), "0.964", 0.964, False),
        (WORST_BRIER, ("lfw", "adaface", "demonorm"), "0.331", 0.331, False),
        (LU_AUROC, ("bfw", "adaface", "ac_linear"), "6/8", 0.75, True),
        (LD_TPR, ("lfw", "magface", "frappe"), "3/8", 0.375, False),
        (BRIER, ("lfw", "magface", "ac_linear"), "0.063", 0.063, True),
        (WORST_TPR, ("lfw", "arcface_r100", "ac_mlp"), "0.183", 0.183, False),
        (AUROC, ("lfw", "adaface", "ac_density"), "0.994", 0.994, True),
    ],
)
def test_a_cell_is_what_the_paper_prints(
    quantity: Quantity, where: tuple[str, str, str], text: str, value: float, bold: bool
) -> None:
    found = cell(quantity, *where)
    assert (found.text, found.value, found.bold) == (text, value, bold)


def test_published_numbers_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        printed_headline()[0].value = 1.0  # type: ignore[misc]
    with pytest.raises(TypeError):
        printed_study("components")[0].values["platt"] = (1.0,)  # type: ignore[index]


@pytest.mark.parametrize(
    ("name", "rows", "label", "method", "values"),
    [
        ("components", 10, ("RFW, FaceNet-C",), "midpoint_only", (0.5202,)),
        ("lfw_accuracy", 4, ("ArcFace, original embedding set",), "ac_linear", (84.72,)),
        ("calibration_size", 4, ("2700",), "ac_mlp", (0.9612,)),
        ("attributes", 3, ("Ethnicity",), "ac_density", (0.9690,)),
        ("coverage", 5, ("5%",), "ac_density", (0.9657, 0.0876)),
        ("split", 4, ("ArcFace", "Endpoint-disjoint"), "ac_linear", (0.9679, 0.0661)),
    ],
)
def test_studies_keep_means_without_their_spread(
    name: str, rows: int, label: tuple[str, ...], method: str, values: tuple[float, ...]
) -> None:
    assert len(printed_study(name)) == rows
    assert next(row for row in printed_study(name) if row.label == label).values[method] == values


def test_win_counts() -> None:
    auroc, pauc = win_counts()
    assert auroc == ("auroc", 86, 108, 79.6, (43, 41))
    assert pauc == ("pauc", 83, 108, 76.9, (61, 23))
