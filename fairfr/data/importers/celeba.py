"""CelebA's identity and attribute files, as they are distributed: who is on an image, gender and age."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from fairfr.core.errors import DataError
from fairfr.data.images_file import ImageTable
from fairfr.data.importers.imported_set import to_column
from fairfr.data.text_table import read_text

ATTRIBUTES = {"gender": ("Male", "male", "female"), "age": ("Young", "young", "old")}
"""Our name of an attribute: the column, and what 1 and -1 mean there."""


def read_celeba(identities: Path, attributes: Path, there: Collection[str]) -> ImageTable:
    """Identity, gender and age of the images ``there``.

    Parameters
    ----------
    identities : Path
        ``identity_CelebA.txt``: lines ``000001.jpg 2880``.
    attributes : Path
        ``list_attr_celeba.txt``: the number of images, a line of 40 names, and lines of an image and 40 times 1 or -1.
    there : collection of str
        The images that are wanted; both files must know each of them.

    Returns
    -------
    ImageTable
        The images in alphabetical order.
    """
    person = _read_identities(identities)
    described = _read_attributes(attributes)
    ids = tuple(sorted(there))
    for path, known in ((identities, person), (attributes, described)):
        unknown = [image for image in ids if image not in known]
        if unknown:
            raise DataError(
                f"{path} has no line for {len(unknown):,} of {len(ids):,} images (first: {unknown[0]}). "
                "Is it the file of these images?"
            )
    who = to_column([person[image] for image in ids])
    columns = {}
    for place, name in enumerate(ATTRIBUTES):
        columns[name] = to_column([described[image][place] for image in ids])
    return ImageTable(attributes, ids, who.codes, columns, who.values)


def _read_identities(path: Path) -> dict[str, str]:
    person = {}
    for number, words in _lines(path):
        if len(words) != 2:
            raise DataError(
                f"{path}, line {number}: expected an image and a number, as in '000001.jpg 2880'; found "
                f"{' '.join(words)[:60]!r}. Restore the file."
            )
        person[words[0]] = words[1]
    return person


def _read_attributes(path: Path) -> dict[str, list[str]]:
    """The values of ATTRIBUTES by image."""
    lines = _lines(path)
    names: list[str] = []
    described = {}
    for number, words in lines:
        if not names:
            if len(words) > 1:  # the first line has only the number of images
                names = words
                _check_names(path, number, names)
        elif len(words) != len(names) + 1:
            raise DataError(
                f"{path}, line {number}: {len(words)} words where an image and {len(names)} values belong. Restore it."
            )
        else:
            described[words[0]] = [_value(path, number, names, words, name) for name in ATTRIBUTES]
    return described


def _check_names(path: Path, number: int, names: list[str]) -> None:
    for column, _, _ in ATTRIBUTES.values():
        if column not in names:
            raise DataError(
                f"{path}, line {number}: no column '{column}' among the names of attributes. "
                "The file is called list_attr_celeba.txt where it comes from."
            )


def _value(path: Path, number: int, names: list[str], words: list[str], name: str) -> str:
    column, yes, no = ATTRIBUTES[name]
    found = words[names.index(column) + 1]
    if found not in ("1", "-1"):
        raise DataError(f"{path}, line {number}: {column} is {found[:20]!r}, not 1 or -1. Restore the file.")
    if found == "1":
        return yes
    return no


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Number and words of each line that has any."""
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        words = line.split()
        if words:
            yield number, words
