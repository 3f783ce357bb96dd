"""Vectors of many images, in parts: killed at any moment, the next call goes on where this one stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fairfr.core.errors import ConfigError, DataError
from fairfr.core.extras import explain_missing_extra
from fairfr.core.npz import UnreadableArrayError, read_npz
from fairfr.core.storage import ResumableOutput
from fairfr.core.types import F32
from fairfr.faces.alignment import MAX_ALIGNMENT_ERROR, Landmarks, align, alignment_error, read_text
from fairfr.faces.onnx_model import OnnxModel, Preprocessing

IMAGES_PER_PART = 256  # what a kill can lose


class ListedImage(NamedTuple):
    """An image: the id it gets, its path as listed (which landmarks go by), and its file."""

    id: str
    listed: str
    file: Path


@dataclass(frozen=True, slots=True)
class ExtractionJob:
    """What to extract. ``landmarks`` None: the images are aligned already."""

    entries: tuple[ListedImage, ...]
    landmarks: Landmarks | None
    out: Path
    batch: int = 64
    skip_unreadable: bool = False


class ExtractionSummary(NamedTuple):
    """How many vectors of how many numbers were saved, which images were skipped, and how many landmarks fit badly."""

    vectors: int
    dims: int
    skipped: tuple[str, ...]
    bad_fits: int


def read_list(path: Path, images: Path) -> tuple[ListedImage, ...]:
    """One image on each line, below the folder ``images``: its file, which is also its id, or ``id<TAB>file``."""
    entries: dict[str, ListedImage] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        name, _, file = (part.strip() for part in line.partition("\t"))
        if not name:
            raise DataError(f"{path}, line {number}: the id is blank. Give each image one line.")
        if name in entries:
            raise DataError(f"{path}, line {number}: '{name}' was listed before. Give each image one line.")
        entries[name] = ListedImage(name, file or name, images / (file or name))
    if not entries:
        raise DataError(f"{path} lists no images.")
    return tuple(entries.values())


def extract(
    job: ExtractionJob, model: OnnxModel, fingerprint: str, progress: Callable[[int], object]
) -> ExtractionSummary:
    """Save the vectors of a job.

    Parameters
    ----------
    job : ExtractionJob
        Which images, and where to.
    model : OnnxModel
        The network that gives the vectors.
    fingerprint : str
        That of ``job_fingerprint``: parts of another job are not continued.
    progress : callable
        Called with the number of images done since the last call.

    Returns
    -------
    ExtractionSummary
        What was saved and what was skipped.
    """
    if job.batch < 1:
        raise ConfigError(f"--batch {job.batch}: must be at least 1.")
    if job.landmarks is not None:
        for entry in job.entries:  # what is missing is said now, not after hours
            job.landmarks.of(entry.listed)
    output = ResumableOutput(job.out, {"fingerprint": fingerprint}, discard_others=False)
    with output.writing() as n_done:
        for number, start in enumerate(range(0, len(job.entries), IMAGES_PER_PART)):
            entries = job.entries[start : start + IMAGES_PER_PART]
            if number < n_done:
                progress(len(entries))
                continue
            with output.part(number) as draft:
                _save(draft, **_part(job, model, entries, progress))
        return _join(job, output)


def job_fingerprint(entries: Sequence[ListedImage], files: Sequence[Path], preprocessing: Preprocessing) -> str:
    """A name for all that decides the vectors (``files``: model and landmarks), but the pictures themselves."""
    listed = [[entry.id, str(entry.file)] for entry in entries]
    digest = hashlib.sha256(json.dumps([asdict(preprocessing), listed]).encode())
    for path in files:
        with path.open("rb") as handle:
            digest.update(hashlib.file_digest(handle, "sha256").digest())
    return digest.hexdigest()


def _part(
    job: ExtractionJob, model: OnnxModel, entries: Sequence[ListedImage], progress: Callable[[int], object]
) -> dict[str, np.typing.NDArray[Any]]:
    ids: list[str] = []
    vectors: list[F32] = []
    skipped: list[str] = []
    for batch in _batches(entries, job.batch):
        faces = []
        for entry in batch:
            try:
                faces.append(_face(job, entry, model.size))
                ids.append(entry.id)
            except _UnreadableError as error:
                if not job.skip_unreadable:
                    raise DataError(f"{error}. Replace the file, or pass --skip-unreadable.") from None
                skipped.append(entry.id)
        if faces:
            vectors.append(_checked(model.vectors(np.stack(faces)), ids[-len(faces) :]))
        progress(len(batch))
    joined = np.zeros((0, 0), dtype=np.float32)
    if vectors:
        joined = np.concatenate(vectors)
    return {"image": np.array(ids, dtype=np.str_), "vectors": joined, "skipped": np.array(skipped, dtype=np.str_)}


def _batches(entries: Sequence[ListedImage], size: int) -> Iterator[Sequence[ListedImage]]:
    for start in range(0, len(entries), size):
        yield entries[start : start + size]


class _UnreadableError(Exception):
    pass


def _face(job: ExtractionJob, entry: ListedImage, size: int) -> F32:
    """The aligned face (size, size, 3) of an image."""
    pixels = _read_image(entry.file)
    if job.landmarks is not None:
        return align(pixels, job.landmarks.of(entry.listed), size)
    if pixels.shape[:2] != (size, size):
        raise DataError(
            f"{entry.file} has {pixels.shape[1]} x {pixels.shape[0]} pixels, but the model takes {size} x {size}. "
            "Give --landmarks, so that faces can be aligned."
        )
    return pixels.astype(np.float32)


def _read_image(path: Path) -> np.typing.NDArray[np.uint8]:
    with explain_missing_extra("fairfr extract"):
        from PIL import Image
    try:
        with Image.open(path) as image:
            return np.asarray(image.convert("RGB"))
    except FileNotFoundError:
        raise _UnreadableError(f"{path}: not found") from None
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise _UnreadableError(f"{path} is not a readable picture ({str(error)[:120]})") from None


def _checked(vectors: F32, ids: Sequence[str]) -> F32:
    fine = np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)
    if not fine.all():
        raise DataError(f"the model gives '{ids[int(np.argmin(fine))]}' a vector that is zero or not finite.")
    return vectors


def _save(path: Path, **arrays: np.typing.NDArray[Any]) -> None:
    with path.open("wb") as handle:
        np.savez(handle, allow_pickle=False, **arrays)


def _read_part(path: Path) -> dict[str, np.typing.NDArray[Any]]:
    try:
        with path.open("rb") as handle:
            part = read_npz(handle)
    except UnreadableArrayError as error:
        raise DataError(f"{path} is damaged ({error}). Remove it: the same command makes it again.") from None
    if part.keys() != {"image", "vectors", "skipped"}:
        raise DataError(f"{path} is not a part of an extraction. Remove it: the same command makes it again.")
    return part


def _join(job: ExtractionJob, output: ResumableOutput) -> ExtractionSummary:
    image: list[np.typing.NDArray[Any]] = []
    vectors: list[F32] = []
    skipped: list[str] = []
    for path in output.parts():
        part = _read_part(path)
        skipped += part["skipped"].tolist()
        if len(part["image"]):
            image.append(part["image"])
            vectors.append(part["vectors"])
    if not image:
        raise DataError(f"none of the {len(job.entries):,} images could be read (first: {job.entries[0].file}).")
    joined = np.concatenate(vectors)
    with output.finishing() as draft:
        _save(draft, image=np.concatenate(image), vectors=joined)
    return ExtractionSummary(len(joined), joined.shape[1], tuple(skipped), _count_bad_fits(job))


def _count_bad_fits(job: ExtractionJob) -> int:
    """How many images have landmarks that do not fit the template."""
    if job.landmarks is None:
        return 0
    errors = [alignment_error(job.landmarks.of(entry.listed)) for entry in job.entries]
    return sum(error > MAX_ALIGNMENT_ERROR for error in errors)
