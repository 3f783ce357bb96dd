"""End to end with a tiny model made here: the mean of each colour, in the layout and batch that a case asks for."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fairfr.commands import extract as extract_command
from fairfr.core.errors import ConfigError, DataError, StorageError
from fairfr.faces import extraction
from fairfr.faces.aligners import AlignedAlready, AlignedFace, LandmarkAligner
from fairfr.faces.alignment import TEMPLATE, align, read_landmarks
from fairfr.faces.extraction import ExtractionJob, ExtractionSummary, extract, fingerprint, read_list
from fairfr.faces.onnx_model import OnnxModel, Preprocessing

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

SIZE = 112


def write_model(path: Path, shape: Sequence[int | str], axes: Sequence[int] = (2, 3), kind: str = "FLOAT") -> Path:
    """The mean over ``axes``, as a model with an input of ``shape``."""
    helper, kind = onnx.helper, getattr(onnx.TensorProto, kind)
    entry = helper.make_tensor_value_info("pixels", kind, list(shape))
    result = helper.make_tensor_value_info("vector", kind, None)
    node = helper.make_node("ReduceMean", ["pixels"], ["vector"], axes=list(axes), keepdims=0)
    graph = helper.make_graph([node], "mean", [entry], [result])
    opset = [helper.make_opsetid("", 13)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return path


def picture(number: int) -> np.ndarray:
    return np.random.default_rng(number).integers(0, 256, size=(SIZE, SIZE, 3), dtype=np.uint8)


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Five pictures p/0.png ... p/4.png and names.txt beside them."""
    (tmp_path / "p").mkdir()
    for number in range(5):
        Image.fromarray(picture(number)).save(tmp_path / "p" / f"{number}.png")
    (tmp_path / "names.txt").write_text("".join(f"p/{number}.png\n" for number in range(5)))
    return tmp_path


@pytest.fixture
def model(tmp_path: Path) -> OnnxModel:
    return OnnxModel(write_model(tmp_path / "model.onnx", ["n", 3, SIZE, SIZE]), Preprocessing(), 1)


def job(images: Path, **changes: Any) -> ExtractionJob:
    return ExtractionJob(
        **{
            "entries": read_list(images / "names.txt", images),
            "aligner": AlignedAlready(),
            "out": images / "net.npz",
            "batch": 2,
            **changes,
        }
    )


def vectors_of(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as stored:
        return dict(zip(stored["image"].tolist(), stored["vectors"], strict=True))


def expected(number: int) -> np.ndarray:
    return (picture(number).astype(np.float64) / 127.5 - 1).mean(axis=(0, 1))


def ignore(_: int) -> None:
    pass


def test_vectors_of_aligned_images(images: Path, model: OnnxModel) -> None:
    done: list[int] = []
    assert extract(job(images), model, "f", done.append) == ExtractionSummary(5, 3, (), ())
    found = vectors_of(images / "net.npz")
    assert list(found) == [f"p/{number}.png" for number in range(5)]
    for number in range(5):
        np.testing.assert_allclose(found[f"p/{number}.png"], expected(number), atol=1e-5)
    assert sum(done) == 5
    assert not (images / "net.npz.partial").exists()


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        (["n", SIZE, SIZE, 3], (1, 2)),
        ([1, 3, SIZE, SIZE], (2, 3)),
        ([3, 3, SIZE, SIZE], (2, 3)),
        (["n", 3, "h", "w"], (2, 3)),
    ],
)
def test_layout_and_batch_come_from_the_model(tmp_path: Path, shape: list[int | str], axes: tuple[int, ...]) -> None:
    model = OnnxModel(write_model(tmp_path / "model.onnx", shape, axes), Preprocessing(), 1)
    faces = np.stack([picture(number) for number in range(4)]).astype(np.float32)
    assert model.size == SIZE
    np.testing.assert_allclose(model.vectors(faces), [expected(number) for number in range(4)], atol=1e-5)


def test_half_precision_and_other_inputs(tmp_path: Path) -> None:
    model = OnnxModel(write_model(tmp_path / "half.onnx", ["n", 3, SIZE, SIZE], kind="FLOAT16"), Preprocessing(), 1)
    np.testing.assert_allclose(model.vectors(picture(0)[None].astype(np.float32))[0], expected(0), atol=2e-3)
    with pytest.raises(DataError, match="int32"):
        OnnxModel(write_model(tmp_path / "int.onnx", ["n", 3, SIZE, SIZE], kind="INT32"), Preprocessing())


def test_preparation(tmp_path: Path) -> None:
    path = write_model(tmp_path / "model.onnx", ["n", 3, SIZE, SIZE])
    face = picture(0)[None].astype(np.float32)
    colour = picture(0).mean(axis=(0, 1))
    raw = OnnxModel(path, Preprocessing(mean=100, std=2, bgr=True), 1).vectors(face)[0]
    np.testing.assert_allclose(raw, (colour[::-1] - 100) / 2, rtol=1e-4)
    with pytest.raises(ConfigError, match="--std"):
        Preprocessing(std=0)


def test_flip_adds_the_mirrored_face(tmp_path: Path) -> None:
    path = write_model(tmp_path / "model.onnx", ["n", 3, SIZE, SIZE], axes=(1, 2))  # one number for each column
    face = picture(0)[None].astype(np.float32)
    plain = OnnxModel(path, Preprocessing(), 1).vectors(face)[0]
    np.testing.assert_allclose(
        OnnxModel(path, Preprocessing(flip=True), 1).vectors(face)[0], plain + plain[::-1], rtol=1e-5
    )


def test_faces_are_aligned_by_their_landmarks(images: Path, model: OnnxModel) -> None:
    points = 0.4 * TEMPLATE + [30, 20]
    numbers = ",".join(f"{number:.6f}" for number in points.ravel())
    (images / "lmk.csv").write_text("".join(f"x/p/{number}.png,{numbers}\n" for number in range(5)))
    aligner = LandmarkAligner(read_landmarks(images / "lmk.csv"), read_list(images / "names.txt", images))
    assert aligner.bad_fits == 0
    extract(job(images, aligner=aligner), model, "f", ignore)
    face = align(picture(3), points, SIZE).astype(np.float64)
    # the patch behind the landmarks, not the whole picture
    np.testing.assert_allclose(
        vectors_of(images / "net.npz")["p/3.png"], (face / 127.5 - 1).mean(axis=(0, 1)), atol=1e-4
    )


def test_landmarks_in_another_order_are_noticed_and_missing_ones_named(images: Path) -> None:
    numbers = ",".join(f"{number:.4f}" for number in TEMPLATE.T.ravel())
    (images / "lmk.csv").write_text("".join(f"p/{number}.png,{numbers}\n" for number in range(5)))
    marks = read_landmarks(images / "lmk.csv")
    assert LandmarkAligner(marks, read_list(images / "names.txt", images)).bad_fits == 5
    (images / "names.txt").write_text("p/0.png\np/9.png\n")
    with pytest.raises(DataError, match="no landmarks for 'p/9"):
        LandmarkAligner(marks, read_list(images / "names.txt", images))


class _Killed(BaseException):
    pass


@pytest.mark.parametrize("calls", [0, 1, 2, 3, 4])
def test_a_killed_extraction_goes_on(
    images: Path, model: OnnxModel, monkeypatch: pytest.MonkeyPatch, calls: int
) -> None:
    monkeypatch.setattr(extraction, "IMAGES_PER_PART", 2)
    extract(job(images, out=images / "whole.npz"), model, "f", ignore)
    real, count, rows = os.replace, 0, []

    def dies(source: Path, target: Path) -> None:  # as a kill before a file gets its name
        nonlocal count
        if count == calls:
            raise _Killed
        count += 1
        real(source, target)

    with monkeypatch.context() as patch, pytest.raises(_Killed):
        patch.setattr(os, "replace", dies)
        extract(job(images), model, "f", ignore)
    assert not (images / "net.npz").exists()
    run = model.vectors
    monkeypatch.setattr(model, "vectors", lambda faces: rows.append(len(faces)) or run(faces))
    assert extract(job(images), model, "f", ignore).vectors == 5
    assert (images / "net.npz").read_bytes() == (images / "whole.npz").read_bytes()
    # the first rename marks the folder, each further one is a part that need not be computed again
    assert sum(rows) == 5 - min(5, 2 * max(calls - 1, 0))


def test_parts_of_another_job_are_not_mixed_in(images: Path, model: OnnxModel) -> None:
    (images / "net.npz.partial").mkdir()
    (images / "net.npz.partial" / "made_from.json").write_text('{"fingerprint": "another"}')
    with pytest.raises(StorageError, match="Remove that folder"):
        extract(job(images), model, "f", ignore)


def test_parts_of_another_list_are_not_mixed_in(images: Path, model: OnnxModel) -> None:
    (images / "p" / "4.png").unlink()
    with pytest.raises(DataError, match=r"4\.png"):  # after the folder for parts is there
        extract(job(images), model, "f", ignore)
    (images / "names.txt").write_text("p/0.png\n")
    with pytest.raises(StorageError, match="Remove that folder"):
        extract(job(images), model, "f", ignore)


def test_fingerprint_sees_files_and_options(tmp_path: Path) -> None:
    one, two = tmp_path / "1", tmp_path / "2"
    one.write_text("1")
    two.write_text("2")
    prints = [
        fingerprint([one], {"flip": False}),
        fingerprint([two], {"flip": False}),
        fingerprint([one, two], {"flip": False}),
        fingerprint([one], {"flip": True}),
    ]
    assert len(set(prints)) == len(prints)
    assert prints[0] == fingerprint([one], {"flip": False})


class SeesNoFaceIn:
    """An aligner that finds no face in some images, and leaves those of ``dropped`` out."""

    def __init__(self, unseen: set[str], dropped: set[str]) -> None:
        self.unseen = unseen
        self.dropped = dropped
        self.asked: list[str] = []

    def face(self, entry: Any, image: np.ndarray, size: int) -> AlignedFace:
        self.asked.append(entry.id)
        if entry.id in self.dropped:
            return AlignedFace(None, found=False)
        return AlignedFace(image.astype(np.float32), found=entry.id not in self.unseen)


def test_images_without_a_face_are_named_and_kept_or_left_out(images: Path, model: OnnxModel) -> None:
    aligner = SeesNoFaceIn({"p/1.png"}, {"p/3.png"})
    done = extract(job(images, aligner=aligner), model, "f", ignore)
    assert done == ExtractionSummary(4, 3, (), ("p/1.png", "p/3.png"))
    assert list(vectors_of(images / "net.npz")) == ["p/0.png", "p/1.png", "p/2.png", "p/4.png"]


def test_a_longer_list_goes_on_from_the_vectors_that_are_there(images: Path, model: OnnxModel) -> None:
    entries = read_list(images / "names.txt", images)
    aligner = SeesNoFaceIn(set(), {"p/1.png"})
    extract(job(images, aligner=aligner, entries=entries[:2]), model, "f", ignore)
    done = extract(job(images, aligner=aligner, extend=True), model, "f", ignore)
    assert aligner.asked == [entry.id for entry in entries]  # each once
    assert done == ExtractionSummary(4, 3, (), ("p/1.png",))
    assert extract(job(images, aligner=aligner, extend=True), model, "f", ignore) == done
    assert len(aligner.asked) == 5
    np.testing.assert_allclose(vectors_of(images / "net.npz")["p/0.png"], expected(0), atol=1e-5)
    with pytest.raises(DataError, match="another network"):
        extract(job(images, aligner=aligner, extend=True), model, "g", ignore)
    np.savez(images / "net.npz", image=np.array(["p/0.png"]), vectors=np.ones((1, 3)))
    with pytest.raises(DataError, match="not what an extraction writes"):
        extract(job(images, aligner=aligner, extend=True), model, "f", ignore)


@pytest.mark.parametrize("damage", ["gone", "empty", "text", "cut"])
def test_unreadable_pictures(images: Path, model: OnnxModel, damage: str) -> None:
    path = images / "p" / "2.png"
    content = {"gone": b"", "empty": b"", "text": b"no picture", "cut": path.read_bytes()[:3000]}[damage]
    path.unlink()
    if damage != "gone":
        path.write_bytes(content)
    with pytest.raises(DataError, match=r"2\.png.*--skip-unreadable"):
        extract(job(images), model, "f", ignore)
    done = extract(job(images, skip_unreadable=True), model, "f", ignore)
    assert (done.vectors, done.skipped) == (4, ("p/2.png",))
    assert "p/2.png" not in vectors_of(images / "net.npz")


def test_errors_that_a_user_can_act_on(images: Path, model: OnnxModel, tmp_path: Path) -> None:
    Image.fromarray(picture(0)[:50]).save(images / "p" / "0.png")
    with pytest.raises(DataError, match=r"112 x 50 pixels.*--landmarks"):
        extract(job(images), model, "f", ignore)
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    with pytest.raises(DataError, match="not a model"):
        OnnxModel(tmp_path / "bad.onnx", Preprocessing())
    with pytest.raises(DataError, match="not found"):
        OnnxModel(tmp_path / "none.onnx", Preprocessing())
    with pytest.raises(DataError, match="fails on pictures of shape"):
        model.vectors(np.zeros((1, 20, 20, 3), dtype=np.float32))
    with pytest.raises(DataError, match="three channels"):
        OnnxModel(write_model(tmp_path / "grey.onnx", ["n", 1, SIZE, SIZE]), Preprocessing())


def test_lists(tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    path.write_text("\ufeffa b.jpg\r\n\r\nid 1\tp/x.png\n", encoding="utf-8")
    first, second = read_list(path, Path("folder"))
    assert (first.id, first.file) == ("a b.jpg", Path("folder/a b.jpg"))
    assert (second.id, second.listed, second.file) == ("id 1", "p/x.png", Path("folder/p/x.png"))
    path.write_text("a\nb\na\n")
    with pytest.raises(DataError, match="line 3"):
        read_list(path, tmp_path)
    path.write_text("\n")
    with pytest.raises(DataError, match="no images"):
        read_list(path, tmp_path)


def test_the_command(images: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    write_model(images / "model.onnx", ["n", 3, SIZE, SIZE])
    (images / "p" / "4.png").unlink()
    command = ["extract", "--images", images, "--list", images / "names.txt", "--skip-unreadable"]
    command += ["--model", images / "model.onnx", "--out", images / "mine" / "net.npz", "--threads", "1"]
    monkeypatch.setattr("sys.argv", [str(word) for word in command])
    monkeypatch.setattr("signal.signal", lambda *_: None)
    extract_command.main()
    shown = capsys.readouterr().out
    assert "4 vectors of 3 numbers" in shown
    assert "  p/4.png" in shown
    with pytest.raises(SystemExit, match=r"^DataError.*--force"):
        extract_command.main()


def test_a_file_that_another_program_would_be_started_for_is_no_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pillow goes by what is in a file, not by its name, and hands EPS to Ghostscript."""
    started: list[Any] = []
    monkeypatch.setattr("PIL.EpsImagePlugin.Ghostscript", lambda *arguments, **_: started.append(arguments))
    path = tmp_path / "a.jpg"
    path.write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n%%EOF\n")
    with pytest.raises(extraction._UnreadableError, match="not a readable picture"):
        extraction._read_image(path)
    assert started == []
