from __future__ import annotations

from pathlib import Path

import pytest
from made_pictures import make_lfw, pack

from fairfr.core.errors import DataError
from fairfr.faces.benchmarks import CELEBA, LFW, find_pair_list, find_pictures, given_pictures, list_pictures


def ignore(*_: object) -> None:
    pass


def test_pictures_are_found_where_they_are_or_up_to_two_folders_down(tmp_path: Path) -> None:
    home = make_lfw(tmp_path / "a" / "lfw_home")
    for given in (home / "lfw", home, tmp_path / "a"):
        assert find_pictures(given, LFW) == home / "lfw"
    with pytest.raises(DataError, match=r"does not hold the pictures .*AJ_Cook/AJ_Cook_0001\.jpg"):
        find_pictures(tmp_path, LFW)
    with pytest.raises(DataError, match=r"\(000001\.jpg\)"):
        find_pictures(home, CELEBA)


def test_of_two_sets_the_one_called_lfw_is_meant_or_it_is_asked(tmp_path: Path) -> None:
    home = make_lfw(tmp_path)
    make_lfw(tmp_path / "other")
    (tmp_path / "other" / "lfw").rename(home / "lfw_funneled")
    assert find_pictures(home, LFW) == home / "lfw"
    (home / "lfw").rename(home / "lfw-deepfunneled")
    with pytest.raises(DataError, match=r"several sets of pictures: lfw-deepfunneled and lfw_funneled\. Name one"):
        find_pictures(home, LFW)


def test_pictures_have_their_names_for_ids(tmp_path: Path) -> None:
    folder = make_lfw(tmp_path) / "lfw"
    (folder / "A_Person" / "notes.txt").touch()
    (folder / "A_Person" / "A_Person_1.jpg").touch()
    found = list_pictures(folder, LFW)
    assert len(found) == 39 and list(found) == sorted(found)
    assert found["B_Person_0002.jpg"] == folder / "B_Person" / "B_Person_0002.jpg"


def test_an_archive_is_unpacked_once_and_another_one_beside_it(tmp_path: Path) -> None:
    home = make_lfw(tmp_path)
    archive = pack(home, tmp_path / "lfw.tgz")
    first = given_pictures(archive, LFW, tmp_path / "cache", ignore)
    assert len(list_pictures(first, LFW)) == 39
    (first / "A_Person" / "A_Person_0001.jpg").unlink()  # as a sign that it is not unpacked again
    assert len(list_pictures(given_pictures(archive, LFW, tmp_path / "cache", ignore), LFW)) == 38
    (home / "lfw" / "B_Person" / "B_Person_0001.jpg").unlink()
    second = given_pictures(pack(home, archive), LFW, tmp_path / "cache", ignore)
    assert second != first and "B_Person_0001.jpg" not in list_pictures(second, LFW)
    with pytest.raises(DataError, match=r"none\.tgz: not found"):
        given_pictures(tmp_path / "none.tgz", LFW, tmp_path / "cache", ignore)


def test_the_list_lies_in_or_beside_the_pictures_or_beside_their_archive(tmp_path: Path) -> None:
    home = make_lfw(tmp_path / "home")
    assert find_pair_list(home, home / "lfw") == home / "pairs.txt"
    (tmp_path / "unpacked" / "lfw").mkdir(parents=True)
    assert find_pair_list(home / "lfw.tgz", tmp_path / "unpacked" / "lfw") == home / "pairs.txt"
    (home / "pairs.txt").rename(home / "lfw" / "pairs.txt")
    assert find_pair_list(home, home / "lfw") == home / "lfw" / "pairs.txt"
