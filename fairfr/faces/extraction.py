"""Vectors of many images, in parts: killed at any moment, the next call goes on where this one stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from fairfr.core.errors import ConfigError, DataError
from fairfr.core.extras import explain_missing_extra
from fairfr.core.npz import UnreadableArrayError, read_npz
from fairfr.core.storage import ResumableOutput
from fairfr.core.types import F32
from fairfr.faces.aligners import Aligner, ListedImage
from fairfr.faces.alignment import read_text

IMAGES_PER_PART = 128  # what a kill can lose

Arrays: TypeAlias = Mapping[str, np.typing.NDArray[Any]]


class Network(Protocol):
    """Gives faces of ``size`` x ``size`` pixels their vectors."""

    size: int

    def vectors(self, faces: F32) -> F32:
        """The vectors (n, d) of ``faces`` (n, size, size, 3), RGB of 0..255."""
        ...


@dataclass(frozen=True, slots=True)
class ExtractionJob:
    """What to extract. ``extend``: vectors of the same network that ``out`` has already are kept."""

    entries: tuple[ListedImage, ...]
    aligner: Aligner
    out: Path
    batch: int = 64
    skip_unreadable: bool = False
    extend: bool = False


class ExtractionSummary(NamedTuple):
    """How many vectors of how many numbers were saved, and which images were skipped or showed no face."""

    vectors: int
    dims: int
    skipped: tuple[str, ...]
    no_face: tuple[str, ...]


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
    job: ExtractionJob, network: Network, made_from: str, progress: Callable[[int], object]
) -> ExtractionSummary:
    """Save the vectors of a job.

    Parameters
    ----------
    job : ExtractionJob
        Which images, and where to.
    network : Network
        What gives the vectors.
    made_from : str
        That of ``fingerprint``: vectors and parts that were made from something else are not continued.
    progress : callable
        Called with the number of images done since the last call.

    Returns
    -------
    ExtractionSummary
        What was saved and what was skipped.
    """
    if job.batch < 1:
        raise ConfigError(f"--batch {job.batch}: must be at least 1.")
    earlier = _NOTHING
    if job.extend and job.out.exists():
        earlier = _read_finished(job.out, made_from)
    known = {*earlier["image"].tolist(), *earlier["no_face"].tolist()}
    entries = [entry for entry in job.entries if entry.id not in known]
    if not entries:
        progress(len(job.entries))
        return _summary(earlier)
    output = ResumableOutput(job.out, {"network": made_from, "images": _digest(entries)}, discard_others=False)
    with output.writing() as n_done:
        # in one call, from which a progress bar takes no speed
        progress(len(job.entries) - len(entries) + min(n_done * IMAGES_PER_PART, len(entries)))
        for start in range(n_done * IMAGES_PER_PART, len(entries), IMAGES_PER_PART):
            part = _part(job, network, entries[start : start + IMAGES_PER_PART], progress)
            with output.part(start // IMAGES_PER_PART) as draft:
                _save(draft, part)
        return _join(job, output, earlier, made_from)


def fingerprint(files: Sequence[Path], options: Mapping[str, Any]) -> str:
    """A name for all that decides the vectors but the pictures: ``files`` (model, landmarks) and ``options``."""
    digest = hashlib.sha256(json.dumps(dict(options)).encode())
    for path in files:
        with path.open("rb") as handle:
            digest.update(hashlib.file_digest(handle, "sha256").digest())
    return digest.hexdigest()


def _digest(entries: Sequence[ListedImage]) -> str:
    listed = [[entry.id, str(entry.file)] for entry in entries]
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def _part(
    job: ExtractionJob, network: Network, entries: Sequence[ListedImage], progress: Callable[[int], object]
) -> Arrays:
    ids: list[str] = []
    vectors: list[F32] = []
    skipped: list[str] = []
    no_face: list[str] = []
    for batch in _batches(entries, job.batch):
        faces = []
        for entry in batch:
            try:
                face = job.aligner.face(entry, _read_image(entry.file), network.size)
            except _UnreadableError as error:
                if not job.skip_unreadable:
                    raise DataError(f"{error}. Replace the file, or pass --skip-unreadable.") from None
                skipped.append(entry.id)
                continue
            if not face.found:
                no_face.append(entry.id)
            if face.pixels is not None:
                faces.append(face.pixels)
                ids.append(entry.id)
        if faces:
            vectors.append(_checked(network.vectors(np.stack(faces)), ids[-len(faces) :]))
        progress(len(batch))
    joined = np.zeros((0, 0), dtype=np.float32)
    if vectors:
        joined = np.concatenate(vectors)
    return {"image": _texts(ids), "vectors": joined, "skipped": _texts(skipped), "no_face": _texts(no_face)}


def _texts(values: Sequence[str]) -> np.typing.NDArray[np.str_]:
    return np.array(values, dtype=np.str_)


def _batches(entries: Sequence[ListedImage], size: int) -> Iterator[Sequence[ListedImage]]:
    for start in range(0, len(entries), size):
        yield entries[start : start + size]


class _UnreadableError(Exception):
    pass


# of all that Pillow can read: for EPS it would start Ghostscript, whatever the file is called
PICTURES = ("JPEG", "PNG", "BMP", "GIF", "WEBP", "TIFF", "PPM", "JPEG2000")


def _read_image(path: Path) -> np.typing.NDArray[np.uint8]:
    with explain_missing_extra("fairfr extract"):
        from PIL import Image
    try:
        with Image.open(path, formats=PICTURES) as image:
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


def _save(path: Path, arrays: Arrays) -> None:
    with path.open("wb") as handle:
        np.savez(handle, allow_pickle=False, **arrays)


PART = ("image", "vectors", "skipped", "no_face")
FINISHED = ("image", "vectors", "no_face", "made_from")
_NOTHING: Arrays = {"image": _texts([]), "vectors": np.zeros((0, 0), dtype=np.float32), "no_face": _texts([])}


def _read(path: Path, names: tuple[str, ...], remedy: str) -> Arrays:
    try:
        with path.open("rb") as handle:
            arrays = read_npz(handle, names)
    except UnreadableArrayError as error:
        raise DataError(f"{path} is damaged ({error}). {remedy}") from None
    if arrays.keys() != set(names):
        raise DataError(f"{path} is not what an extraction writes. {remedy}")
    return arrays


def _read_finished(path: Path, made_from: str) -> Arrays:
    remedy = "Remove it, or choose another name for the new vectors."
    arrays = _read(path, FINISHED, remedy)
    if str(arrays["made_from"]) != made_from:
        raise DataError(f"{path} has vectors of another network, or made with other options. {remedy}")
    return arrays


def _join(job: ExtractionJob, output: ResumableOutput, earlier: Arrays, made_from: str) -> ExtractionSummary:
    parts = [_read(path, PART, "Remove it: the same command makes it again.") for path in output.parts()]
    filled = [part for part in (earlier, *parts) if len(part["image"])]
    if not filled:
        raise DataError(f"none of the {len(job.entries):,} images has a vector (first: {job.entries[0].file}).")
    arrays = {
        "image": np.concatenate([part["image"] for part in filled]),
        "vectors": np.concatenate([part["vectors"] for part in filled]),
        "no_face": np.concatenate([part["no_face"] for part in (earlier, *parts)]),
    }
    with output.finishing() as draft:
        _save(draft, {**arrays, "made_from": np.array(made_from)})
    skipped: list[str] = []
    for part in parts:
        skipped += part["skipped"].tolist()
    return _summary(arrays, skipped)


def _summary(arrays: Arrays, skipped: Sequence[str] = ()) -> ExtractionSummary:
    n_vectors, n_dims = arrays["vectors"].shape
    return ExtractionSummary(n_vectors, n_dims, tuple(skipped), tuple(arrays["no_face"].tolist()))
