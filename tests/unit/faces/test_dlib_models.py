"""Where dlib is not installed, what the models give is not tested."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fairfr.core.extras import MissingExtraError
from fairfr.faces import dlib_models
from fairfr.faces.aligners import ListedImage
from fairfr.faces.alignment import TEMPLATE
from fairfr.faces.dlib_models import NETWORK, DlibAligner, DlibNetwork, model_file
from fairfr.faces.extraction import ExtractionJob, extract

REAL = os.environ.get("FAIRFR_REAL_DATA")


def test_a_missing_package_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    message = r"fairfr faces needs the extra: pip install 'fairfr\[faces\]'"
    monkeypatch.setattr(dlib_models, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=message):
        model_file(NETWORK)
    monkeypatch.setitem(sys.modules, "dlib", None)
    with pytest.raises(MissingExtraError, match=message):
        DlibNetwork()


class Box:
    """A face that dlib's detector found around a point."""

    def __init__(self, x: int, y: int) -> None:
        self.x = x
        self.y = y

    def center(self) -> Box:
        return self


class FakeDlib:
    """dlib with a detector that finds ``boxes``, and landmarks that lie as those of a face around the box."""

    def __init__(self, boxes: list[Box]) -> None:
        self.boxes = boxes

    def get_frontal_face_detector(self) -> object:
        return lambda image, upsample: self.boxes

    def rectangle(self, left: int, top: int, right: int, bottom: int) -> Box:
        return Box((left + right) // 2, (top + bottom) // 2)

    def shape_predictor(self, path: str) -> object:
        return lambda image, box: Shape(box)


class Shape:
    def __init__(self, box: Box) -> None:
        self.box = box

    def parts(self) -> list[Box]:
        shifted = dlib_models.FIVE_POINTS - [56, 72] + [self.box.x, self.box.y]
        return [Box(*point) for point in shifted.tolist()]


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakeDlib:
    made = FakeDlib([])
    monkeypatch.setattr(dlib_models, "load_dlib", lambda: made)
    monkeypatch.setattr(dlib_models, "model_file", Path)
    return made


def face_at(image: np.ndarray, x: int, y: int) -> np.ndarray:
    """The 112 x 112 picture in which the point (x, y) of ``image`` is at (56, 72)."""
    return image[y - 72 : y + 40, x - 56 : x + 56]


ENTRY = ListedImage("a", "a", Path("a"))
IMAGE = np.random.default_rng(0).integers(0, 256, size=(400, 600, 3)).astype(np.float32)


def test_of_several_faces_the_most_central_one_is_aligned(fake: FakeDlib) -> None:
    fake.boxes = [Box(100, 100), Box(310, 210), Box(500, 200)]
    face = DlibAligner(chip=False, missing="box").face(ENTRY, IMAGE, 112)
    assert face.found
    np.testing.assert_allclose(face.pixels, face_at(IMAGE, 310, 210), atol=1e-3)


def test_without_a_face_the_central_box_counts_or_the_image_is_left_out(fake: FakeDlib) -> None:
    boxed = DlibAligner(chip=False, missing="box").face(ENTRY, IMAGE, 112)
    np.testing.assert_allclose(boxed.pixels, face_at(IMAGE, 300, 200), atol=1e-3)
    assert not boxed.found
    assert DlibAligner(chip=False, missing="drop").face(ENTRY, IMAGE, 112) == (None, False)


def lfw_sample() -> list[ListedImage]:
    """Sixty original pictures of LFW; skips without them, or without dlib."""
    pytest.importorskip("dlib", reason="needs pip install 'fairfr[faces]'")
    if REAL is None:
        pytest.skip("no real data (FAIRFR_REAL_DATA)")
    files = sorted((Path(REAL) / "lfw_sample" / "lfw_home" / "lfw").glob("*/*.jpg"))
    return [ListedImage(file.name, file.name, file) for file in files]


def test_vectors_of_real_faces_are_the_reference_vectors(tmp_path: Path) -> None:
    entries = lfw_sample()
    assert len(entries) == 60
    job = ExtractionJob(tuple(entries), DlibAligner(chip=True, missing="box"), tmp_path / "net.npz")
    done = extract(job, DlibNetwork(), "dlib", lambda _: None)
    assert done.no_face == ("Abdoulaye_Wade_0003.jpg",)
    with np.load(Path(str(REAL)) / "lfw" / "embeddings" / "dlib_resnet.npz") as stored:
        reference = dict(zip(stored["image"].tolist(), stored["vectors"].astype(np.float64), strict=True))
    with np.load(tmp_path / "net.npz") as found:
        for image, vector in zip(found["image"].tolist(), found["vectors"].astype(np.float64), strict=True):
            unit = vector / np.linalg.norm(vector)
            cosine = unit @ reference[image] / np.linalg.norm(reference[image])
            assert cosine >= (0.99 if image in done.no_face else 0.9999), image


def test_faces_for_other_models_have_the_eyes_where_these_models_expect_them() -> None:
    """The pupils are darker than what is around them: the mean face shows where they are."""
    entries = lfw_sample()
    aligner = DlibAligner(chip=False, missing="drop")
    faces = []
    for entry in entries:
        face = aligner.face(entry, np.asarray(Image.open(entry.file).convert("RGB")), 112)
        if face.pixels is not None:
            faces.append(face.pixels.mean(axis=2))
    mean = np.mean(faces, axis=0)
    for x, y in TEMPLATE[:2]:
        patch = mean[int(y) - 8 : int(y) + 9, int(x) - 8 : int(x) + 9]
        row, column = np.unravel_index(int(np.argmin(patch)), patch.shape)
        assert abs(row - 8) <= 3 and abs(column - 8) <= 3
