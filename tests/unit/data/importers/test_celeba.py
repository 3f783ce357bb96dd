from __future__ import annotations

from pathlib import Path

import pytest

from fairfr.core.errors import DataError
from fairfr.data.importers.celeba import read_celeba

IDENTITIES = "000001.jpg 2880\n000002.jpg 2937\n000003.jpg 2880\n"
# as distributed: names end with a blank, and numbers are right-aligned
ATTRIBUTES = "3\nBald Male Smiling Young \n000001.jpg -1 -1  1  1\n000002.jpg -1  1 -1 -1\n000003.jpg  1 -1  1 -1\n"
ALL = ("000003.jpg", "000001.jpg", "000002.jpg")


def read(folder: Path, identities: str = IDENTITIES, attributes: str = ATTRIBUTES, wanted: tuple[str, ...] = ALL):
    (folder / "identity_CelebA.txt").write_text(identities)
    (folder / "list_attr_celeba.txt").write_text(attributes)
    return read_celeba(folder / "identity_CelebA.txt", folder / "list_attr_celeba.txt", wanted)


def test_identity_gender_and_age_of_the_wanted_images(tmp_path: Path) -> None:
    images = read(tmp_path)
    assert images.ids == ("000001.jpg", "000002.jpg", "000003.jpg")
    assert [images.people[code] for code in images.identity] == ["2880", "2937", "2880"]
    told = {name: [column.values[code] for code in column.codes] for name, column in images.attributes.items()}
    assert told == {"gender": ["female", "male", "female"], "age": ["young", "old", "old"]}
    assert read(tmp_path, wanted=("000002.jpg",)).ids == ("000002.jpg",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"wanted": ("000001.jpg", "7.jpg")}, r"identity_CelebA\.txt has no line for 1 of 2 images \(first: 7\.jpg\)"),
        ({"identities": "000001.jpg\n"}, "line 1: expected an image and a number"),
        ({"attributes": ATTRIBUTES.replace("Male", "Female")}, r"line 2: no column 'Male'.*list_attr_celeba\.txt"),
        ({"attributes": ATTRIBUTES.replace(" 1\n000002", "\n000002")}, "line 3: 4 words where an image and 4 values"),
        ({"attributes": ATTRIBUTES.replace("-1 -1  1  1", "-1 yes  1  1")}, "line 3: Male is 'yes', not 1 or -1"),
        ({"attributes": ""}, "is empty"),
        ({"attributes": "3\n"}, r"list_attr_celeba\.txt has no line for 3 of 3 images"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, changes: dict[str, str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path, **changes)
