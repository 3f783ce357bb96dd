"""What is generated from conf/method and the classes and cards (module docstrings) of fairfr/methods.

The table of docs/methods.md, the table of names fairfr/_methods.py, and fairfr/__init__.pyi, which shows the method
classes to editors and type checkers.

python scripts/method_table.py           writes all three
python scripts/method_table.py --check   fails when one is stale, or when a card says too little
"""

import argparse
import inspect
import re
import sys
import textwrap
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import fairfr
from fairfr.core.config import instantiate
from fairfr.library.method_classes import method_targets, model_class
from fairfr.sweep.compose import read_method

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- methods: begin -->", "<!-- methods: end -->"
# What a saved model of a method has in it, by its yaml; weights where nothing is said. The contract tests fit every
# method and compare.
KEEPS = {
    "ac_cohort": "face vectors",
    "ac_density": "face vectors",
    "ac_density_loo": "face vectors",
    "demonorm": "face vectors",
    "falcon": "face vectors",
    "ablation/demonorm_m1": "face vectors",
    "ablation/demonorm_m1_2": "face vectors",
    "ablation/demonorm_m2": "face vectors",
    "ablation/demonorm_m2_1": "face vectors",
    "ablation/demonorm_m2_2": "face vectors",
    "ablation/density_score": "face vectors",
    "faircal": "cluster centres",
    "frappe": "cluster centres",
    "fsn": "cluster centres",
}
CARD_WORDS = ("Needs", "Emits", "Deviations")


def main() -> None:
    """Compare or rewrite the three files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    for name, fresh in {
        "docs/methods.md": page(),
        "fairfr/_methods.py": names(),
        "fairfr/__init__.pyi": stub(),
    }.items():
        path = ROOT / name
        if not check:
            path.write_text(fresh, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != fresh:
            sys.exit(f"{name} is stale. Run: python scripts/method_table.py")


def page() -> str:
    """docs/methods.md with a fresh table between its two marks."""
    text = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    _, mark, tail = rest.partition(END)
    if not mark:
        sys.exit(f"docs/methods.md lacks the marks {BEGIN} and {END}.")
    return f"{head}{BEGIN}\n{table()}\n{END}{tail}"


def table() -> str:
    """Markdown: the methods that sweeps find first, then ablations and extras, folded."""
    folder = ROOT / "conf" / "method"
    head = ["| `method=` | | what it does | also needs | gives | its file has |", "|---|---|---|---|---|---|"]
    swept = [row(path, path.stem) for path in sorted(folder.glob("*.yaml"))]
    others = [row(path, f"{path.parent.name}/{path.stem}") for path in sorted(folder.glob("*/*.yaml"))]
    opening = ["", "<details><summary>Ablations and extras, which sweeps leave out</summary>", ""]
    return "\n".join([*head, *swept, *opening, *head, *others, "", "</details>"])


def row(path: Path, choice: str) -> str:
    """One method: its yaml's opening comment says what it does, its class what it needs and gives."""
    opening = path.read_text(encoding="utf-8").splitlines()[0]
    method = read_method(path)
    cls: Any = type(instantiate(method.estimator, f"{choice}.estimator"))
    card = Path(inspect.getfile(cls)).relative_to(ROOT)
    check_card(cls, card)
    dagger = " †" if "groups" in cls.needs else ""
    # methods use people where they are known, and fit without them
    needs = ", ".join(sorted(cls.needs)).replace("identities", "identities if known")
    gives = "probability" if cls.native_probability else "score"
    what = opening.removeprefix("#").strip()
    keeps = KEEPS.get(choice, "weights")
    return f"| [`{choice}`](../{card}) | {method.label}{dagger} | {what} | {needs} | {gives} | {keeps} |"


def check_card(cls: type, card: Path) -> None:
    """A card says what the method needs, what it emits and where it deviates."""
    text = inspect.getdoc(sys.modules[cls.__module__]) or ""
    missing = [word for word in CARD_WORDS if word not in text]
    if missing:
        sys.exit(f"{card}: the card (module docstring) does not say: {', '.join(missing)}.")


def names() -> str:
    """The module with the table of names."""
    lines = [f'    "{name}": "{target}",' for name, target in sorted(method_targets().items())]
    return "\n".join(
        [
            '"""Where each method class is, by its name. Written by scripts/method_table.py: do not edit."""',
            "",
            "METHODS: dict[str, str] = {",
            *lines,
            "}",
            "",
        ]
    )


def stub() -> str:
    """The type stub of the package: what ``fairfr/__init__.py`` imports and looks up, and one class per method."""
    source = (ROOT / "fairfr" / "__init__.py").read_text(encoding="utf-8")
    imports = [found.group() for found in re.finditer(r"^from \S+ import (\w+) as \1$", source, re.MULTILINE)]
    imports += [f"from {module} import {name} as {name}" for name, module in fairfr._MORE.items()]
    imports += [f"from fairfr import {name} as {name}" for name in fairfr._ROOMS]
    head = [
        "# Written by scripts/method_table.py: do not edit.",
        "from typing import Literal",
        "",
        *sorted(imports),
        "",
        "__version__: str",
    ]
    return "\n".join([*head, *(class_stub(name) for name in sorted(method_targets())), ""])


def class_stub(name: str) -> str:
    """One method: its docstring, its parameters as attributes, and its constructor."""
    model = model_class(name)
    hints = get_type_hints(model.method_class)
    attributes: list[str] = []
    arguments: list[str] = []
    for parameter in inspect.signature(model).parameters.values():
        hint = type_text(hints[parameter.name])
        attributes.append(f"    {parameter.name}: {hint}")
        arguments.append(f"        {parameter.name}: {hint} = {value_text(parameter.default)},")
    constructor = ["    def __init__(self) -> None: ..."]
    if arguments:
        constructor = ["    def __init__(", "        self,", "        *,", *arguments, "    ) -> None: ..."]
    docstring = inspect.getdoc(model.method_class) or name
    quoted = textwrap.indent(f'"""{docstring}\n"""' if "\n" in docstring else f'"""{docstring}"""', "    ")
    return "\n".join(["", f"class {name}(Model):", quoted, "", *attributes, *constructor])


def type_text(hint: Any) -> str:
    """A type as it is written: ``int | None``, ``Literal["auto", "scan"]``, ``tuple[str, ...]``."""
    parts = get_args(hint)
    if hint is type(None):
        return "None"
    if hint is Ellipsis:
        return "..."
    if get_origin(hint) is Literal:
        return f"Literal[{', '.join(value_text(part) for part in parts)}]"
    if get_origin(hint) in (Union, UnionType):
        return " | ".join(type_text(part) for part in parts)
    inner = f"[{', '.join(type_text(part) for part in parts)}]" if parts else ""
    return f"{hint.__name__}{inner}"


def value_text(value: Any) -> str:
    """A default as it is written, text in double quotes."""
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return f"({', '.join(value_text(part) for part in value)})"
    return repr(value)


if __name__ == "__main__":
    main()
