"""calibrate, deploy, how_it_works: every Python example runs as it stands, in this order; every command parses."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fairfr
from fairfr.commands._calibrate_parser import make_parser

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [(DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("calibrate", "deploy", "how_it_works")]


def examples(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", "\n".join(PAGES), re.DOTALL | re.MULTILINE)


def what_a_reader_has() -> dict[str, Any]:
    """What face libraries return for 80 images of 40 people, and labelled pairs of them."""
    rng = np.random.default_rng(0)
    people = np.arange(80) // 2
    vectors = rng.normal(size=(40, 32))[people] + 0.6 * rng.normal(size=(80, 32))
    pairs = np.array([(i, j) for i in range(80) for j in range(i)])
    same = people[pairs[:, 0]] == people[pairs[:, 1]]
    kept = same | (rng.random(len(pairs)) < 0.3)
    pairs, same = pairs[kept], same[kept]
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return {
        "detected_faces": [{"embedding": vector.astype(np.float32)} for vector in vectors],
        "represented_faces": [{"embedding": vector.tolist()} for vector in vectors],
        "descriptors": vectors[:, :128],
        "pairs": pairs,
        "same": same,
        "new_pairs": pairs[:5],
        "left_vectors": vectors[:3],
        "right_vectors": vectors[3:6],
        "cosine_distances": 1 - np.einsum("ij,ij->i", unit[pairs[:, 0]], unit[pairs[:, 1]]),
        "vendor_scores": 50 + 50 * np.einsum("ij,ij->i", unit[pairs[:, 0]], unit[pairs[:, 1]]),
        "gender": np.where(people % 2 == 0, "female", "male"),
    }


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    scope = what_a_reader_has()
    for example in examples("python"):
        exec(compile(example, "an example of the docs", "exec"), scope)
    assert (tmp_path / "mine.fairfr").exists()
    probability = scope["probability"]
    saved = fairfr.load("mine.fairfr").probability(scope["embeddings"], scope["new_pairs"])
    np.testing.assert_array_equal(probability, saved)
    printed = capsys.readouterr().out
    assert "female FMR 0." in printed and "said 0." in printed
    # where genuine pairs are rarer, every pair is less probable
    assert (scope["probability_here"] < probability).all()
    assert np.mean(scope["accepted"][~scope["same"][scope["test"]]]) <= scope["wanted"]


def test_the_commands_parse() -> None:
    known = make_parser("")
    lines = [line for example in examples("bash") for line in example.splitlines()]
    calls = [shlex.split(line)[2:] for line in lines if line.startswith("fairfr calibrate")]
    assert {call[0] for call in calls} == {"fit", "score", "threshold", "inspect"}
    for call in calls:
        options, rest = known.parse_known_args(call)
        assert options.do == "fit" or not rest, call
        assert all("=" in word for word in rest)
