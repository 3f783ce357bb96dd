"""The pages of an audit and an evaluation, opened in Chromium: nothing is cut off, on screens, phones and paper."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from held_scores import Held, strangers

import fairfr
from fairfr.library.expected import KEY, expected_of
from fairfr.library.threshold import ThresholdRequest, find_threshold

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)
pytestmark = [
    pytest.mark.server,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed: apt-get install chromium"),
]
GROUPS = ("a group with quite a long name indeed", "b", "c")
MEASURE = """
<script>
const inner = document.documentElement.clientWidth;
const parts = [...document.querySelectorAll("h1, h2, p, li, figure, svg, textarea")];
const cut = parts.filter((part) => part.getBoundingClientRect().right > inner + 1).map((part) => part.outerHTML);
const measured = {inner, scroll: document.documentElement.scrollWidth, cut, parts: parts.length};
parent.postMessage(JSON.stringify(measured), "*");
</script>
"""
# a frame is as wide as it is told to be; the narrowest window of a browser is wider than a phone
FRAME = """
<script>addEventListener("message", (event) => (document.title = encodeURIComponent(event.data)));</script>
<iframe src="{page}" width="{width}" height="900" style="border: 0"></iframe>
"""


def pages() -> dict[str, str]:
    """Both pages, about made pairs."""
    rng = np.random.default_rng(0)
    n = 3000
    same = rng.random(n) < 0.4
    score = np.clip(0.2 * rng.normal(size=n) - 0.3 + 0.6 * same, -1, 1)
    left, right = strangers(n)
    right = np.where(same, left, right)
    code = rng.integers(0, 3, n)
    other = np.where(same, code, rng.integers(0, 3, n))
    groups = {"g": (np.array(GROUPS)[code], np.array(GROUPS)[other])}
    people = (left.astype(str), right.astype(str))
    audited = fairfr.audit(score, same, groups=groups, identities=people, threshold=0.1)
    model = fairfr.Beta().fit_scores(score, same)
    held: Any = Held(same, model.probability_scores(score), (left, right))
    model.origin_ = {KEY: expected_of(held)}
    model.thresholds_ = (find_threshold(held, ThresholdRequest(0.1)),)
    probability = model.probability_scores(score - 0.3 * same * (score > -0.7))
    evaluated = fairfr.evaluate(probability, same, groups=groups, identities=people, stored=model)
    return {"audit": audited.to_html(), "evaluation": evaluated.to_html()}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    for name, page in pages().items():
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
        (folder / f"{name}_measured.html").write_text(page.replace("</body>", f"{MEASURE}</body>"), encoding="utf-8")
    return folder


def chromium(folder: Path, *words: str) -> str:
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    done = subprocess.run([*command, *words], capture_output=True, text=True, timeout=180, check=True)
    return done.stdout


@pytest.mark.parametrize("width", [1400, 390])
@pytest.mark.parametrize("page", ["audit", "evaluation"])
def test_nothing_is_cut_off(written: Path, page: str, width: int) -> None:
    frame = written / f"{page}_{width}.html"
    frame.write_text(FRAME.format(page=f"{page}_measured.html", width=width))
    shown = chromium(written, "--hide-scrollbars", "--virtual-time-budget=5000", "--dump-dom", frame.as_uri())
    title = re.search(r"<title>(.*?)</title>", shown)
    assert title is not None, shown
    measured = json.loads(unquote(title[1]))
    assert measured["inner"] == width
    assert measured["parts"] >= 25
    assert measured["cut"] == []
    assert measured["scroll"] == width


@pytest.mark.parametrize("page", ["audit", "evaluation"])
def test_it_prints(written: Path, page: str) -> None:
    out = written / f"{page}.pdf"
    chromium(written, "--no-pdf-header-footer", f"--print-to-pdf={out}", (written / f"{page}.html").as_uri())
    content = out.read_bytes()
    assert content.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", content)) <= 12
