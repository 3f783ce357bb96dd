"""Then and now: rates at one threshold in two audits, and what an earlier audit.json must have."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fairfr.auditing.audit import Audit, audit, audit_columns
from fairfr.auditing.report import AuditedFile
from fairfr.auditing.sample import Coded, Columns, Grouping
from fairfr.core.errors import ConfigError, DataError
from fairfr.numerics.rate_bounds import Errors, at_least_times


def columns(false_matches: int, group: str = "a") -> Columns:
    """2,000 impostors and 2,000 genuine pairs, half of them of ``group``; so many impostors of it are above .5."""
    same = np.arange(4000) % 2
    score = np.where(same == 1, 0.8, 0.2) + np.linspace(0, 0.1, 4000)
    inside = np.arange(4000) < 2000
    score[np.flatnonzero(inside & (same == 0))[:false_matches]] = 0.6
    codes = np.where(inside, 0, 1).astype(np.int32)
    grouping = Grouping.of("race", Coded(codes, (group, "other")))
    return Columns(score, same.astype(np.int32), lambda rows: str(rows), (grouping,))


def earlier(folder: Path, found: Audit) -> Path:
    path = folder / "audit.json"
    path.write_text(json.dumps(found.to_dict()))
    return path


def audited(of: Columns, since: Path | None = None, threshold: float = 0.5) -> Audit:
    return audit_columns(of, AuditedFile("x", None, 4000), threshold, (1e-2,), since=since)


def test_a_change_is_bounded_both_ways(tmp_path: Path) -> None:
    found = audited(columns(60), earlier(tmp_path, audited(columns(10))))
    changes = {(row["group"], row["kind"]): row for row in found.to_dict()["since"]}
    assert len(changes) == 6, "all and two groups, each with two rates"
    change = changes["a", "fmr"]
    assert (change["grouping"], change["then"], change["now"]) == ("race", 0.01, 0.06)
    assert change["higher"] == pytest.approx(at_least_times(Errors(60, 1000), Errors(10, 1000), 6, alpha=0.025))
    assert change["lower"] == pytest.approx(at_least_times(Errors(10, 1000), Errors(60, 1000), 6, alpha=0.025))
    assert change["lower"] < 1 < change["higher"]
    assert changes["other", "fmr"]["higher"] < 1
    page = found.to_html()
    assert "10 of 1,000 (1 %)" in page
    assert "higher: at least 2" in page
    assert "no change is established" in page


def test_groups_that_one_audit_does_not_have_are_left_out(tmp_path: Path) -> None:
    found = audited(columns(60), earlier(tmp_path, audited(columns(10, group="b"))))
    assert {row["group"] for row in found.to_dict()["since"]} == {"all", "other"}


def test_without_an_earlier_audit_nothing_is_said() -> None:
    assert "since" not in audited(columns(5)).to_dict()


def test_another_threshold_is_refused(tmp_path: Path) -> None:
    path = earlier(tmp_path, audited(columns(10)))
    with pytest.raises(DataError, match=r"about the score 0\.5, and this audit about the score 0\.6"):
        audited(columns(10), path, threshold=0.6)
    with pytest.raises(ConfigError, match=r"--since.*--threshold T"):
        audit_columns(columns(10), AuditedFile("x", None, 1), None, (1e-2,), since=path)
    distance = earlier(tmp_path, audit([0.1, 0.9], [1, 0], threshold=0.5, distance=True))
    with pytest.raises(DataError, match=r"about the distance 0\.5"):
        audited(columns(10), distance)


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        '{"orientation": "score", "rates": [{"level": "current"}]}',
        '{"orientation": "score", "rates": 3}',
    ],
)
def test_what_is_no_audit_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "audit.json"
    path.write_text(text)
    with pytest.raises(DataError, match=r"is not an audit\.json of fairfr audit"):
        audited(columns(10), path)


@pytest.mark.parametrize(
    "changed", [{"false_matches": 5000}, {"impostors": 1.5}, {"fmr_phi": "no"}, {"fmr_phi": 1e308}]
)
def test_impossible_counts_are_refused(tmp_path: Path, changed: dict[str, float]) -> None:
    content = audited(columns(10)).to_dict()
    content["rates"][0] |= changed
    path = tmp_path / "audit.json"
    path.write_text(json.dumps(content))
    with pytest.raises(DataError, match=r"is not an audit\.json"):
        audited(columns(10), path)


def test_an_audit_at_no_threshold_in_use_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "audit.json"
    path.write_text('{"orientation": "score", "rates": []}')
    with pytest.raises(DataError, match="no rates at a threshold in use"):
        audited(columns(10), path)
