"""From files to ``<backbone>.npz``, through the options a user gives, and back through the loader's own reader."""

from __future__ import annotations

import argparse
import zipfile
from pathlib import Path

import numpy as np
import pytest

from fairfr.core.errors import ConfigError, DataError, FairfrError
from fairfr.data.embeddings_file import RawVectors, read_vectors
from fairfr.data.files import DataFile
from fairfr.data.importers import embeddings

IMAGES = [
    *(f"{e}/m.0{p}/m.0{p}_{n:04d}.jpg" for e in ("African", "Asian") for p in range(3) for n in (1, 2, 12)),
]
VECTORS = np.random.default_rng(2).normal(size=(len(IMAGES), 5)).astype("f4")
WRITTEN = "data/rfw/embeddings/arcface.npz"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data" / "rfw").mkdir(parents=True)
    rows = "".join(f"{image},{image.split('/')[1]}\n" for image in IMAGES)
    (tmp_path / "data/rfw/images.csv").write_text("image,identity\n" + rows)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*options: str) -> str:
    parser = argparse.ArgumentParser()
    embeddings.add_arguments(parser)
    return embeddings.run(parser.parse_args(["--dataset", "rfw", "--backbone", "arcface", *options]))


def save(name: str, content: dict[str, np.ndarray]) -> str:
    """One array for each image, as npz."""
    np.savez(name, **content)
    return name


def written() -> RawVectors:
    return read_vectors(DataFile.at(Path(WRITTEN)))


def test_one_file_for_each_ethnicity_with_unpadded_numbers(here: Path) -> None:
    """As FairCal writes them: own roots, ``_cropped`` folders, and ``_000`` glued before every number."""
    files = []
    for ethnicity in ("Asian", "African"):
        part = {}
        for image, row in zip(IMAGES, VECTORS, strict=True):
            if image.startswith(ethnicity):
                key = image.replace(f"{ethnicity}/", f"rfw/data/{ethnicity}_cropped/").replace("_0012", "_00012")
                part[key] = row[None]
        files.append(save(f"{ethnicity}_facenet_embeddings.npz", part))
    text = call("--from", *files)
    found = written()
    assert found.images == tuple(IMAGES)
    np.testing.assert_array_equal(found.vectors, VECTORS)
    assert "18 vectors of width 5 written" in text
    assert "12 exact, 6 by zero-padding" in text


def test_bytes_are_equal_when_repeated_and_whatever_the_order(here: Path) -> None:
    content = dict(zip(IMAGES, VECTORS, strict=True))
    call("--from", save("a.npz", content))
    first = Path(WRITTEN).read_bytes()
    with zipfile.ZipFile(WRITTEN) as archive:
        assert {entry.date_time[0] for entry in archive.infolist()} == {1980}  # not that of writing
    call("--from", save("b.npz", dict(reversed(content.items()))))
    assert Path(WRITTEN).read_bytes() == first
    assert [path.name for path in Path(WRITTEN).parent.iterdir()] == ["arcface.npz"]


@pytest.mark.parametrize(("given", "kept"), [("f2", "f2"), ("f4", "f4"), ("f8", "f4")])
def test_width_of_numbers(here: Path, given: str, kept: str) -> None:
    call("--from", save("a.npz", dict(zip(IMAGES, VECTORS.astype(given), strict=True))))
    assert written().vectors.dtype == np.dtype(kept)
    np.testing.assert_array_equal(written().vectors, VECTORS.astype(kept))


def test_mixed_types_become_float32(here: Path) -> None:
    half = save("a.npz", dict(zip(IMAGES[:4], VECTORS[:4].astype("f2"), strict=True)))
    rest = save("b.npz", dict(zip(IMAGES[4:], VECTORS[4:], strict=True)))
    call("--from", half, rest)
    assert written().vectors.dtype == np.float32
    np.testing.assert_array_equal(written().vectors[4:], VECTORS[4:])


def test_npy_with_names_through_the_options(here: Path) -> None:
    np.save("v.npy", VECTORS[::-1])
    Path("names.txt").write_bytes("\r\n".join(reversed(IMAGES)).encode())
    call("--from", "v.npy", "--names", "names.txt", "--out", "data")
    np.testing.assert_array_equal(written().vectors, VECTORS)


def test_missing_images_stop_or_are_reported(here: Path) -> None:
    file = save("a.npz", dict(zip(IMAGES[:-7], VECTORS[:-7], strict=True)))
    with pytest.raises(DataError) as error:
        call("--from", file)
    assert "7 images of 18 without a usable vector" in str(error.value)
    assert f"first: {IMAGES[-7]}" in str(error.value)
    assert IMAGES[-2] not in str(error.value)
    assert "--missing drop" in str(error.value)
    assert not Path(WRITTEN).exists()
    text = call("--from", file, "--missing", "report")
    assert "7 images of 18 without a usable vector" in text
    assert written().images == tuple(IMAGES[:-7])


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0, 1e300])
def test_unusable_vectors_count_as_missing(here: Path, bad: float) -> None:
    content = dict(zip(IMAGES, VECTORS.astype("f8"), strict=True))
    content[IMAGES[3]] = np.full(5, bad)
    file = save("a.npz", content)
    with pytest.raises(DataError, match="1 image with a vector that is zero or not finite") as error:
        call("--from", file)
    assert IMAGES[3] in str(error.value)
    call("--from", file, "--missing", "report")
    assert written().images == tuple(image for image in IMAGES if image != IMAGES[3])


def test_repeats_are_counted_and_contradictions_refused(here: Path) -> None:
    content = dict(zip(IMAGES, VECTORS, strict=True))
    a = save("a.npz", content)
    again = {"./" + IMAGES[0]: VECTORS[0], IMAGES[1]: VECTORS[1]}
    assert "2 vectors repeated, identical" in call("--from", a, save("b.npz", again))
    other = save("c.npz", {"x/" + IMAGES[0]: VECTORS[0] + 1})
    with pytest.raises(DataError, match="two different vectors") as error:
        call("--from", a, other)
    assert "a.npz" in str(error.value) and "c.npz" in str(error.value)


def test_ambiguous_keys_are_never_guessed(here: Path) -> None:
    content = dict(zip(IMAGES[1:], VECTORS[1:], strict=True))
    content["m.00_0001.jpg"] = VECTORS[0]
    text = call("--from", save("a.npz", content), "--missing", "report")
    assert "1 ambiguous" in text
    assert IMAGES[0] not in written().images


def _other_width() -> list[str]:
    return [save("a.npz", {IMAGES[0]: VECTORS[0]}), save("b.npz", {IMAGES[1]: VECTORS[1, :4]})]


@pytest.mark.parametrize(
    ("options", "error", "word"),
    [
        (lambda: ["--from", *_other_width()], DataError, "width 4"),
        (lambda: ["--from", save("a.npz", {"z/q.jpg": VECTORS[0]})], DataError, "look like 'z/q.jpg'"),
        (lambda: ["--from", "a.npz", "b.npz", "--names", "n.txt"], ConfigError, "one npy file"),
        (lambda: ["--dataset", "../rfw", "--from", "a.npz"], ConfigError, "plain name"),
        (lambda: ["--backbone", "a/b", "--from", "a.npz"], ConfigError, "plain name"),
        (lambda: ["--dataset", "bfw", "--from", "a.npz"], DataError, "Import the data set itself first"),
        (lambda: ["--from", "gone.npz"], DataError, "gone.npz"),
        (lambda: ["--from", "."], DataError, "without .npy files"),
    ],
)
def test_mistakes_are_named(here: Path, options: object, error: type[FairfrError], word: str) -> None:
    with pytest.raises(error) as caught:
        call(*options())  # type: ignore[operator]
    assert word in str(caught.value)
    assert not Path(WRITTEN).exists()


def test_place_that_cannot_be_written(here: Path) -> None:
    Path("data/rfw/embeddings").write_text("a file in the way")
    with pytest.raises(DataError, match="cannot be written"):
        call("--from", save("a.npz", dict(zip(IMAGES, VECTORS, strict=True))))


def test_interrupted_write_leaves_the_old_file(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    call("--from", save("a.npz", dict(zip(IMAGES, VECTORS, strict=True))))
    before = Path(WRITTEN).read_bytes()

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(np.lib.format, "write_array", stop)
    with pytest.raises(KeyboardInterrupt):
        embeddings.write_vectors(Path(WRITTEN), IMAGES, VECTORS)
    assert Path(WRITTEN).read_bytes() == before
    assert [path.name for path in Path(WRITTEN).parent.iterdir()] == ["arcface.npz"]
