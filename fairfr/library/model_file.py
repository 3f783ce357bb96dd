"""A fitted model in one file: arrays as safetensors, everything else as JSON in its header. Never a pickle.

The header's metadata has one key, ``fairfr``, with the JSON of

    format       "fairfr model"
    version      of this layout: a reader knows all versions from OLDEST up to its own
    fingerprint  of the parts that the state is made of: a part that changed without a new version is noticed
    checksum     crc32 of all the rest of this JSON and of the arrays, so that a damaged file is noticed
    method       the class, and its parameters, needs and native_probability
    width        of the vectors; null for a model of cosines
    groups       ids of the groups that must be given
    training     counts of what it was fitted on; digest: of the data; seed; report: what the fit did
    holds        face_vectors: how many training vectors are among the arrays (fairfr.library.face_vectors)
    score_range  lowest and highest possible score of a model of other scores than cosines; absent: cosines
    origin       where the model comes from, such as the run that held pairs out, with what its held-out pairs let
                 expect (fairfr.library.expected); absent if nothing was noted
    thresholds   those that fairfr calibrate threshold --keep found (fairfr.library.threshold); absent if none
    versions     of Python and of the packages that fitted it
    arrays       dtype and shape of each array
    state        the fitted attributes (fairfr.core.serialization), and overlay: the map from score to probability
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fairfr.core.errors import ConfigError, DataError, FairfrError, MethodError, did_you_mean
from fairfr.core.provenance import versions
from fairfr.core.run_key import configuration_digest
from fairfr.core.serialization import DTYPES, Arrays, decode, encode, field_names
from fairfr.core.storage import replacing
from fairfr.core.types import Grouping, VerificationSet
from fairfr.library.arrays import check_score_range
from fairfr.library.face_vectors import KEY as FACE_VECTORS
from fairfr.library.image_pairs import ImageLabels, ImagePairs, to_verification_set
from fairfr.library.method_classes import as_model, method_targets, model_class
from fairfr.library.method_state import decode_method, encode_method, parameters_of
from fairfr.library.model import Model
from fairfr.library.threshold import Threshold, checked, merged
from fairfr.numerics.beta import BetaMap
from fairfr.pairs.table import PairTable

FORMAT, VERSION = "fairfr model", 2
OLDEST = 2  # version 1, which no release wrote, did not say what is in a file
KEY = "fairfr"
RENAMED_VALUES = (("solver", "paper", "sklearn"), ("variant", "paper", "unconstrained"))  # parameter, old, new
# in which a calculation ends where parts of a state do not fit each other
ALGEBRA = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    TypeError,
    ValueError,
    FairfrError,
)
MAX_WIDTH = 65_536  # of vectors; files with a longer array have room for longer ones
LARGEST_NUMBER = 1e30  # in a fitted state; with larger ones a prediction overflows
PROBABILITIES = "probability_"  # the array of a curve: Isotonic
MAX_PROBED = 1_000  # faces that a loaded model is tried on; of very wide ones fewer
MAX_PROBED_NUMBERS = 2**22  # in the vectors of these faces
TINY = 1e-6  # length of a vector that points nowhere
TYPES = {
    "BOOL": "bool",
    "U8": "uint8",
    "I16": "int16",
    "I32": "int32",
    "I64": "int64",
    "F32": "float32",
    "F64": "float64",
}


def save(model: Model, path: Path) -> None:
    """Write a fitted model; the file is there under its name only once it is whole."""
    _write(path, *_describe(model))


def keep_thresholds(path: Path, new: list[Threshold]) -> None:
    """Add thresholds to a saved model, or replace those for the same rates; all else in the file stays as it is."""
    about = read_description(path)
    try:
        arrays = _read_arrays(path, about)
        _check_sum(about, arrays)
        about["thresholds"] = merged(checked(about.get("thresholds", [])), new)
    except DataError as error:
        raise DataError(f"{path} cannot be used: {error.args[0]}.") from None
    _write(path, about, arrays)


def _write(path: Path, about: dict[str, Any], arrays: Arrays) -> None:
    import safetensors.numpy

    about["checksum"] = _checksum(about, arrays)
    if not path.parent.is_dir():
        raise DataError(f"{path} cannot be written: there is no folder {path.parent}.")
    # save_file would make the file readable for its owner only
    content = safetensors.numpy.save(arrays, metadata={KEY: json.dumps(about, allow_nan=False)})
    try:
        with replacing(path) as draft:
            draft.write_bytes(content)
    except OSError as error:
        raise DataError(f"{path} cannot be written: {error}.") from None


def load(path: str | Path, method: type[Any] | None = None) -> Model:
    """The model that ``save`` wrote.

    Parameters
    ----------
    path : str or Path
        Of the file.
    method : type, optional
        The class of a method of your own, or what ``as_model`` made of it, which no file can name; methods of fairfr
        need none.

    Returns
    -------
    Model
        Fitted, as it was saved. A file that is damaged, or that fairfr did not write, is a DataError.
    """
    path = Path(path)
    about = read_description(path)
    try:
        cls = _class_of(about, method)
        _check_fingerprint(about)
        arrays = _read_arrays(path, about)
        _check_sum(about, arrays)
        _check_width(about["width"], arrays)
        if method is None:  # what a method of one's own keeps is its own affair
            _check_numbers([about["state"], about["overlay"]], arrays)
        return _restored(cls, about, arrays)
    except (DataError, ConfigError) as error:
        raise DataError(f"{path} cannot be used: {error.args[0]}.") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError) as error:
        raise DataError(f"{path} cannot be used: its description is not one that fairfr writes ({error!r}).") from None


def describe(path: str | Path) -> dict[str, Any]:
    """What the file says about itself, without its state and without reading its arrays."""
    path = Path(path)
    about = read_description(path)
    return {name: value for name, value in about.items() if name not in ("state", "overlay", "checksum", "arrays")}


def read_description(path: Path) -> dict[str, Any]:
    """The description in the header, of a version that this reader knows."""
    from safetensors import SafetensorError, safe_open

    try:
        path.open("rb").close()  # which says better why a file cannot be read
        with safe_open(path, framework="np") as file:
            metadata = file.metadata()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    except SafetensorError as error:
        raise DataError(f"{path} is not a fairfr model, or it is cut short or damaged: {error}.") from None
    try:
        about = json.loads(metadata[KEY])
        known = about["format"] == FORMAT and type(about["version"]) is int
    except (KeyError, TypeError, ValueError, RecursionError):
        known = False
    if not known:
        raise DataError(f"{path} is not a fairfr model: a safetensors file without its description.")
    if about["version"] < OLDEST:
        raise DataError(
            f"{path} was written by an older fairfr (version {about['version']} of the format; this one reads from "
            f"{OLDEST} on). Fit it again."
        )
    if about["version"] > VERSION:
        raise DataError(
            f"{path} was written by a newer fairfr (version {about['version']} of the format; this one reads up to "
            f"{VERSION}). Install a newer one: pip install -U fairfr."
        )
    out: dict[str, Any] = about
    return out


def _describe(model: Model) -> tuple[dict[str, Any], Arrays]:
    state, arrays = encode_method(model.method_)
    about = {
        "format": FORMAT,
        "version": VERSION,
        "method": type(model).__name__,
        # those that it was fitted with: the model's own may have been set since
        "parameters": {n: list(v) if isinstance(v, tuple) else v for n, v in parameters_of(model.method_).items()},
        "needs": sorted(model.needs),
        "native_probability": bool(model.method_.native_probability),
        "width": model.width_,
        "groups": list(model.groups_),
        "training": model.training_,
        "digest": model.digest_,
        "holds": model.holds_,
        "seed": model.seed_,
        "report": encode(model.report_, arrays, "report"),
        "versions": versions(),
        "state": state,
        "overlay": encode(model.overlay_, arrays, "overlay"),
    }
    if model.origin_ is not None:
        about["origin"] = model.origin_
    if model.score_range_ is not None:
        about["score_range"] = list(model.score_range_)
    if model.thresholds_:
        about["thresholds"] = list(model.thresholds_)
    about["fingerprint"] = _fingerprint(about)
    about["arrays"] = {name: [array.dtype.name, list(array.shape)] for name, array in sorted(arrays.items())}
    return about, arrays


def _class_of(about: dict[str, Any], method: type[Any] | None) -> type[Model]:
    name = about["method"]
    if method is not None:
        if not isinstance(method, type):
            raise ConfigError(f"method={method!r} is not a class: write method={name}, without quotes or parentheses")
        if method.__name__ != name:
            raise DataError(f"it was fitted by {name}, not by {method.__name__}")
        return as_model(method)
    if name not in method_targets():
        raise DataError(
            f"it was fitted by {name!r}, which this fairfr does not know.{did_you_mean(str(name), method_targets())} "
            "A method of your own is passed along: fairfr.load(path, method=YourClass), or fairfr calibrate score "
            "--config-dir my_conf"
        )
    return model_class(name)


def _check_fingerprint(about: dict[str, Any]) -> None:
    if about["fingerprint"] != _fingerprint(about):
        raise DataError(
            "its parts are not made as this fairfr makes them, although the version of the format is the same: "
            f"it was written by fairfr {about['versions'].get('fairfr')}. Fit it again"
        )


def _fingerprint(about: dict[str, Any]) -> str:
    """16 hex digits of the kinds of parts in a state and the names of their fields."""
    kinds = sorted({*_pieces_in(about["state"]), *_pieces_in(about["overlay"])})
    return configuration_digest({"version": VERSION, "pieces": {kind: field_names(kind) for kind in kinds}})


def _pieces_in(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("piece"), str):
            yield node["piece"]
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from _pieces_in(item)


def _read_arrays(path: Path, about: dict[str, Any]) -> Arrays:
    """The arrays in memory of their own, after the header and the description were found to agree on them."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as file:
            found = {}
            for name in file.keys():  # noqa: SIM118
                header = file.get_slice(name)
                found[name] = [TYPES[header.get_dtype()], header.get_shape()]
            if found != about["arrays"]:
                odd = min(name for name in {*found, *about["arrays"]} if found.get(name) != about["arrays"].get(name))
                raise DataError(f"its arrays are not the described ones: {odd!r} is {found.get(odd, 'missing')}")
            return {name: np.array(file.get_tensor(name), order="C") for name in found}
    except (SafetensorError, OSError) as error:
        raise DataError(f"safetensors cannot read it ({error})") from None


def _check_sum(about: dict[str, Any], arrays: Arrays) -> None:
    """DataError for a damaged file; takes the checksum out of the description."""
    if about.pop("checksum", None) != _checksum(about, arrays):
        raise DataError("its content does not match its checksum, so it is damaged")


def _checksum(about: dict[str, Any], arrays: Arrays) -> int:
    value = zlib.crc32(json.dumps(about, sort_keys=True).encode())
    for name in sorted(arrays):
        value = zlib.crc32(_bytes(arrays[name]), value)
    return value


def _bytes(array: npt.NDArray[Any]) -> memoryview | bytes:
    return array.reshape(-1).view(np.uint8).data if array.size else b""


def _current_values(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters whose values had other names when the file was written, by their names of today."""
    current = dict(parameters)
    for name, old, new in RENAMED_VALUES:
        if current.get(name) == old:
            current[name] = new
    return current


def _restored(cls: type[Model], about: dict[str, Any], arrays: Arrays) -> Model:
    parameters = _current_values(about["parameters"])
    method = decode_method(cls.method_class, parameters, about["state"], arrays)
    model = cls(**parameters)
    model.set_params(**{name: getattr(method, name) for name in model.get_params()})
    model.method_, model.overlay_ = method, decode(about["overlay"], arrays)
    if not isinstance(model.overlay_, BetaMap | None):
        raise DataError("its overlay is not a beta map")
    model.width_, model.groups_ = about["width"], tuple(about["groups"])
    model.training_, model.digest_ = about["training"], about["digest"]
    model.seed_, model.report_ = about["seed"], decode(about["report"], arrays)
    model.origin_, model.holds_ = about.get("origin"), _holds(about)
    model.score_range_ = check_score_range(about.get("score_range"))
    model.thresholds_ = checked(about.get("thresholds", []))
    if about["needs"] != sorted(cls.needs):
        raise DataError(f"it says that {about['method']} needs {about['needs']}, not {sorted(cls.needs)}")
    _check_prediction(model, arrays)
    return model


def _check_width(width: Any, arrays: Arrays) -> None:
    """The width decides how much memory a prediction takes: it must be in proportion to the file."""
    largest = max((array.size for array in arrays.values()), default=0)
    if width is not None and (type(width) is not int or not 0 < width <= max(MAX_WIDTH, largest)):
        raise DataError(f"it says that its vectors have the width {str(width)[:20]}")


def _check_numbers(node: Any, arrays: Arrays) -> None:
    """Every number that a method of ours has learned is finite, and no larger than can be calculated with."""
    for name in _arrays_in(node):
        array = arrays.get(name)
        if array is not None and array.dtype.kind == "f" and not bool(np.all(np.abs(array) <= LARGEST_NUMBER)):
            raise DataError(f"its array {name!r} has numbers that no fit gives")
        if array is not None and name == PROBABILITIES and not bool(np.all((array >= 0) & (array <= 1))):
            raise DataError(f"its array {name!r} has numbers that no fit gives: probabilities outside [0, 1]")
    for number in _numbers_in(node):
        if not abs(number) <= LARGEST_NUMBER:
            raise DataError(f"it has the number {number:g}, which no fit gives")


def _arrays_in(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("array"), str):
            yield node["array"]
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from _arrays_in(item)


def _numbers_in(node: Any) -> Iterator[float]:
    if isinstance(node, dict):
        if isinstance(node.get("float"), str):  # infinity, or no number
            yield float("nan")
        node = list(node.values())
    if isinstance(node, list):
        for item in node:
            yield from _numbers_in(item)
    if isinstance(node, int | float):
        yield node


def _holds(about: dict[str, Any]) -> dict[str, int]:
    count = about["holds"][FACE_VECTORS]
    if type(count) is not int or count < 0:
        raise DataError(f"it says that {count!r} face vectors are in it")
    return {FACE_VECTORS: count}


def _check_prediction(model: Model, arrays: Arrays) -> None:
    """Predictions of made-up pairs: a state whose parts do not fit each other, or the width, shows itself here."""
    try:
        with np.errstate(all="ignore"):
            _, probability = model.predict_table(PairTable(_probe(model, arrays)))
        fine = bool(((probability >= 0) & (probability <= 1)).all())
    except MethodError:
        fine = False
    except ALGEBRA as error:
        raise _unfit(model, error) from None
    except Exception as error:
        if type(error).__module__.startswith("numba."):  # types that a compiled loop does not know
            raise _unfit(model, error) from None
        raise  # a library that is missing, no memory, no further thread: not the file's fault
    if not fine:
        raise DataError("it gives nonsense for a pair of vectors")


def _unfit(model: Model, error: Exception) -> DataError:
    return DataError(f"its parts do not fit together, or not vectors of width {model.width_} ({error})")


def _probe(model: Model, arrays: Arrays) -> VerificationSet:
    """Pairs with everything that the model needs: of its groups, and of the faces that it keeps."""
    most = min(MAX_PROBED, max(3, MAX_PROBED_NUMBERS // (model.width_ or 1)))
    levels = tuple(model.training_.get("groups", {}))[:most] or ("unknown",)
    own = np.arange(len(levels))
    left_group = np.concatenate([own, np.repeat(own, len(own))])[:most]
    right_group = np.concatenate([own, np.tile(own, len(own))])[:most]
    if model.width_ is None:
        p = max(3, len(left_group))
        faces = ImagePairs.scored(np.resize([0.3, -1.0, 1.0], p))
    else:
        rows = np.concatenate([np.ones((3, model.width_)), _faces_in(arrays, model.width_)])
        p = max(len(rows), len(left_group))
        left = np.resize(rows, (p, model.width_))
        right = np.tile(np.arange(1.0, model.width_ + 1), (p, 1))
        right[1], right[2] = -left[1], left[2]
        faces = ImagePairs.of((left, right), None)
    codes = np.concatenate([np.resize(left_group, p), np.resize(right_group, p)]).astype(np.int16)
    groupings = (Grouping("_x_".join(model.groups_), levels, codes),) if model.groups_ else ()
    labels = ImageLabels(groupings, np.zeros(2 * p, dtype=np.int32), ("someone",))
    return to_verification_set(faces, labels, np.zeros(0, dtype=bool))


def _faces_in(arrays: Arrays, width: int) -> npt.NDArray[np.float64]:
    """Rows (n, width) of short arrays, such as the centres of clusters: each of them decides on some faces."""
    found = [np.empty((0, width))]
    for array in arrays.values():
        if array.ndim == 2 and array.shape[1] == width and len(array) <= MAX_PROBED and array.dtype.kind == "f":
            rows = array.astype(np.float64)
            norm = np.linalg.norm(rows, axis=1)
            found.append(rows[norm > TINY])
    return np.concatenate(found)[:MAX_PROBED]


assert set(TYPES.values()) == set(DTYPES)
