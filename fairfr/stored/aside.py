"""Runs that tables do not show: why, in a sentence, and what to type so that they do."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal, TypeAlias

from fairfr.core.run_key import MAX_TYPED, Parameters, override_text, variant_text
from fairfr.core.text import plural
from fairfr.stored.condition import DATA
from fairfr.stored.run import Run
from fairfr.stored.selection import OF_METHOD, all_parameters, fills_tables

MAX_LISTED_VARIANTS = 5  # values of a parameter in a command
SHORT_DIGEST = 8
Why: TypeAlias = Literal["where", "variant", "configuration", "older"]


@dataclass(frozen=True, eq=False)
class LeftAside:
    """Runs that are not shown, all of them for one reason.

    Parameters
    ----------
    why : {"where", "variant", "configuration", "older"}
        They do not meet a condition that was asked for; differ from the yaml files in what nobody asked for; have
        another configuration than the newest run of their setting, which is named by ``apart``; or another run of the
        same configuration is in their place, because it is newer or made by the installed code.
    runs : tuple of Run
        At least one.
    among : sequence of Run
        From which runs were chosen.
    apart : mapping
        The parameters that set another configuration apart.
    """

    why: Why
    runs: tuple[Run, ...]
    among: Sequence[Run] = ()
    apart: Parameters = field(default_factory=dict)

    @property
    def cells(self) -> set[tuple[str, str, str]]:
        """Where they would be shown."""
        return {run.cell for run in self.runs}

    def within(self, cells: Collection[tuple[str, str, str]]) -> LeftAside | None:
        """What a table with these cells has to say of it; None: nothing.

        What was not asked for concerns the page, another configuration every cell of its setting.
        """
        if self.why == "configuration" and self.runs[0].cell[:2] in {cell[:2] for cell in cells}:
            return self
        here = tuple(run for run in self.runs if run.cell in cells)
        if self.why != "older" or not here:
            return None
        return replace(self, runs=here)

    @property
    def said(self) -> str:
        """Why, in a sentence."""
        count = len(self.runs)
        if self.why == "where":
            return f"{plural(count, 'run')} {_verb(count, 'does', 'do')} not meet --where."
        if self.why == "variant":
            sentences = [f"{plural(count, 'run')} {_verb(count, 'differs', 'differ')} from the default configuration."]
            for key, values in self._values().items():
                short = [value for value in values if _can_be_typed(key, value)]
                if len(short) > MAX_LISTED_VARIANTS:
                    more = plural(len(short) - MAX_LISTED_VARIANTS, "value")
                    sentences.append(f"The command leaves out {more} of {key}.")
                if len(short) < len(values):
                    sentences.append(f"Values of more than {MAX_TYPED} characters are not printed.")
            return " ".join(sentences)
        if self.why == "configuration":
            result = self.runs[0].result
            where = f"{result.dataset.label} x {result.backbone.label}"
            have = f"{plural(count, 'run')} {_verb(count, 'has', 'have')} another configuration"
            return f"{where}: {have} ({variant_text(self.apart)}), and the newest decides."
        where = ", ".join(" x ".join(cell) for cell in sorted(self.cells))
        return (
            f"{plural(count, 'older run')} of the same configuration ({where}); fairfr.results(every=True) has "
            f"{_verb(count, 'it', 'them')}."
        )

    @property
    def options(self) -> str | None:
        """What to type after ``fairfr tables`` to see them; None where no option shows them.

        A parameter of the data, seed or protocol chooses runs, so its values in all cells are named, the default first.
        Of many values the first few are named, and none that is too long to be typed.
        """
        if self.why == "where":
            return ""
        wanted: dict[str, list[Any]] = {}
        if self.why == "variant":
            for key, several in self._values().items():
                short = [value for value in several if _can_be_typed(key, value)]
                if short:
                    wanted[key] = short[:MAX_LISTED_VARIANTS]
        if self.why == "configuration":
            together = {**self.runs[0].differs, **self.apart}
            if all(_can_be_typed(key, value) for key, value in together.items()):
                wanted = {key: [value] for key, value in together.items()}
        return options_for(wanted) or None

    def _values(self) -> dict[str, list[Any]]:
        """The values of each parameter that show these variants, each beside what there is of it."""
        values: dict[str, list[Any]] = {}
        cells = [run for run in self.among if fills_tables(run)]
        for key in dict.fromkeys(chain.from_iterable(run.differs for run in self.runs)):
            if key.startswith(OF_METHOD):
                asked = [run for run in self.runs if key in run.differs]
            else:
                defaults = [run for run in cells if key not in run.differs]
                asked = [*defaults, *(run for run in cells if key in run.differs)]
            values[key] = []
            for run in asked:
                value = all_parameters(run).get(key)
                if value not in values[key]:
                    values[key].append(value)
        return values


def not_chosen(cells: Sequence[Run], hidden: Sequence[Run]) -> list[LeftAside]:
    """The runs among some cells that the conditions do not choose: unmet by them, or variants not asked for."""
    found = []
    defaults = tuple(run for run in hidden if not run.differs)
    if defaults:
        found.append(LeftAside("where", defaults, cells))
    variants = tuple(run for run in hidden if run.differs)
    if variants:
        found.append(LeftAside("variant", variants, cells))
    return found


def other_configuration(runs: Sequence[Run], apart: Parameters) -> LeftAside:
    """Runs of an older configuration; where only the content of the files differs, their digest names it."""
    named = dict(apart)
    digest = named.pop(DATA, "")
    if not named:
        named = {DATA: str(digest)[:SHORT_DIGEST]}
    return LeftAside("configuration", tuple(runs), apart=named)


def options_for(values: Mapping[str, Sequence[Any]]) -> str:
    """``--where k=500,1000 --where seed=1``, quoted for a shell."""
    texts = [f"{key}={','.join(map(override_text, several))}" for key, several in values.items()]
    return " ".join(f"--where {shlex.quote(text)}" for text in texts)


def _can_be_typed(key: str, value: Any) -> bool:
    return len(f"{key}={override_text(value)}") <= MAX_TYPED


def _verb(count: int, one: str, several: str) -> str:
    if count == 1:
        return one
    return several
