"""Pictures in the layouts of LFW and CelebA, one colour for each person, and their lists."""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np
from PIL import Image

PEOPLE = tuple(f"{letter}_Person" for letter in "ABCDEFGHIJKL")
EACH = 3  # images of a person
FOLDS = 2


def write_picture(path: Path, person: int, number: int) -> None:
    """A picture whose mean colour tells the person, and a little the number."""
    rng = np.random.default_rng(person)
    colour = rng.integers(40, 216, size=3) + 3 * number
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((20, 20, 3), colour, dtype=np.uint8)).save(path)


def make_lfw(home: Path) -> Path:
    """``home/lfw/A_Person/A_Person_0001.jpg`` and so on, and ``home/pairs.txt``; M_Person is in no pair."""
    for person, name in enumerate((*PEOPLE, "M_Person")):
        for number in range(1, EACH + 1):
            write_picture(home / "lfw" / name / f"{name}_{number:04d}.jpg", person, number)
    lines = [f"{FOLDS}\t6"]
    for fold in range(FOLDS):
        people = PEOPLE[6 * fold : 6 * fold + 6]
        lines += [f"{name}\t1\t2" for name in people]
        lines += [f"{name}\t1\t{other}\t{EACH}" for name, other in zip(people, (*people[1:], people[0]), strict=True)]
    (home / "pairs.txt").write_text("\n".join(lines) + "\n")
    return home


def pack(home: Path, path: Path) -> Path:
    """The folder ``lfw`` as an archive."""
    with tarfile.open(path, "w:gz") as archive:
        archive.add(home / "lfw", "lfw")
    return path


CELEBA_PEOPLE = 160


def make_celeba(folder: Path) -> Path:
    """320 images of 160 people in ``img_align_celeba``, with the two files beside them; half men, half young."""
    identities = []
    attributes = [str(2 * CELEBA_PEOPLE), "Eyeglasses Male Young "]
    for number in range(2 * CELEBA_PEOPLE):
        person = number // 2
        image = f"{number + 1:06d}.jpg"
        write_picture(folder / "img_align_celeba" / image, person, number % 2)
        identities.append(f"{image} {2000 + person}")
        male = ("-1", "1")[person % 2]
        young = ("-1", "1")[person // 2 % 2]
        attributes.append(f"{image} -1 {male:>2} {young:>2}")
    (folder / "identity_CelebA.txt").write_text("\n".join(identities) + "\n")
    (folder / "list_attr_celeba.txt").write_text("\n".join(attributes) + "\n")
    return folder
