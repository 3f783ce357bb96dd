"""The page of an audit: findings first, tables, figures; hostile names are text."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np

from fairfr.auditing.audit import Audit, audit


def found(name: str = "group-a", **more: object) -> Audit:
    rng = np.random.default_rng(0)
    n = 3000
    same = rng.random(n) < 0.3
    group = rng.choice([name, "group-b"], n)
    return audit(0.3 * rng.normal(size=n) + same, same, groups={"g": group}, threshold=0.5, **more)  # type: ignore[arg-type]


def test_findings_come_before_tables_and_figures() -> None:
    page = found().to_html()
    places = [page.index(mark) for mark in ("What is sure", "At your threshold", "<svg", "As probabilities", "to copy")]
    assert places == sorted(places)
    assert page.count("<svg") == 4


def test_every_finding_stands_on_the_page() -> None:
    audited = found()
    page = audited.to_html().replace("&#x27;", "'")
    for finding in audited.findings:
        assert finding.text in page


def test_figures_are_well_formed_and_stay_inside() -> None:
    for svg in re.findall(r"<svg.*?</svg>", found().to_html(), re.DOTALL):
        root = ElementTree.fromstring(svg)
        width, height = map(float, root.attrib["viewBox"].split()[2:])
        for line in root.iter("{http://www.w3.org/2000/svg}polyline"):
            for x, y in re.findall(r"([-\d.]+) ([-\d.]+)", line.attrib["points"]):
                assert 0 <= float(x) <= width
                assert 0 <= float(y) <= height


def test_a_group_cannot_write_into_the_page() -> None:
    page = found('<img src=x onerror="1">\u202e').to_html()
    assert "<img" not in page
    assert "\u202e" not in page
    assert "&lt;img src=x" in page


def test_without_groups_or_labels_the_page_shows_what_remains() -> None:
    rng = np.random.default_rng(1)
    score = rng.normal(size=100)
    assert "There are no labels" in audit(score, None).to_html()
    impostors = audit(score, np.zeros(100, dtype=bool), threshold=1.0).to_html()
    assert "no pairs" in impostors
    assert "As probabilities" not in impostors


def test_impostors_across_groups_have_a_table() -> None:
    rng = np.random.default_rng(2)
    n = 4000
    same = rng.random(n) < 0.3
    left = rng.choice(["a", "b"], n)
    right = np.where(same, left, rng.choice(["a", "b"], n))
    page = audit(0.3 * rng.normal(size=n) + same, same, groups={"g": (left, right)}, threshold=0.5).to_html()
    assert "g against g" in page
