"""docs/references.bib and CITATION.cff: nothing that fairfr offers is without its source."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
ENTRY = re.compile(r"^@(\w+)\{(\w+),\n(.*?)^\}", re.DOTALL | re.MULTILINE)
OF_USERS = {"backbone/custom", "backbone/scores", "dataset/custom"}
OURS = {"method/ac_hinge"}  # its source is this project


def entries() -> dict[str, dict[str, str]]:
    """Fields of each entry, by its key."""
    found = ENTRY.findall((ROOT / "docs" / "references.bib").read_text(encoding="utf-8"))
    return {key: dict(re.findall(r"^  (\w+) = \{(.*)\},$", body, re.MULTILINE)) for _, key, body in found}


def test_every_method_data_set_and_backbone_has_an_entry() -> None:
    named = {word for fields in entries().values() for word in fields["keywords"].split(", ")}
    for group in ("method", "dataset", "backbone"):
        folders = [ROOT / "conf" / group, ROOT / "conf" / group / "extra"]
        offered = {f"{group}/{path.stem}" for folder in folders for path in folder.glob("*.yaml")}
        assert offered - named - OF_USERS - OURS == set()
        assert {word for word in named if word.startswith(f"{group}/")} <= offered


def test_entries_are_whole() -> None:
    text = (ROOT / "docs" / "references.bib").read_text(encoding="utf-8")
    assert len(entries()) == text.count("\n@")
    for key, fields in entries().items():
        assert {"title", "author", "year"} <= set(fields), key
        assert {"booktitle", "journal", "institution", "eprint"} & set(fields), key
        assert fields["year"] in key and all(value.count("{") == value.count("}") for value in fields.values())


def test_the_citation_names_the_paper() -> None:
    paper = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["preferred-citation"]
    fields = entries()["brown2026adaptive"]
    assert paper["title"] == fields["title"] and str(paper["year"]) == fields["year"]
    assert [identifier["value"] for identifier in paper["identifiers"]] == [f"arXiv:{fields['eprint']}"]
    assert paper["doi"] == fields["doi"]
