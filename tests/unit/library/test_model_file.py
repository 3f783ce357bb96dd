"""Saved models: read back whole, or refused with a sentence before any memory goes."""

from __future__ import annotations

import json
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_faces import Faces
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import fairfr
from fairfr.core import serialization as state
from fairfr.core.errors import DataError
from fairfr.library import model_file
from fairfr.methods.ac_density import ACDensity

Change = Callable[[dict[str, Any]], object]


@pytest.fixture
def saved(faces: Faces, tmp_path: Path) -> Path:
    path = tmp_path / "model.fairfr"
    model = fairfr.ACDensity(k=5, max_references=40).fit(faces.embeddings, faces.pairs, faces.same)
    model.save(path, with_faces=True)
    return path


def parts(path: Path) -> tuple[dict[str, Any], bytes]:
    """The header and what follows it."""
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    return json.loads(content[8 : 8 + length]), content[8 + length :]


def write(path: Path, header: dict[str, Any], data: bytes) -> None:
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def redescribe(path: Path, change: Change) -> None:
    """The file with another description, whose checksum is right again."""
    header, data = parts(path)
    about = json.loads(header["__metadata__"]["fairfr"])
    change(about)
    about.pop("checksum", None)
    about["checksum"] = model_file._checksum(about, load_file(path))
    header["__metadata__"]["fairfr"] = json.dumps(about)
    write(path, header, data)


# -- what is in it -----------------------------------------------------------------------------------------------------


def test_a_file_says_what_it_is(faces: Faces, saved: Path) -> None:
    about = model_file.describe(saved)
    assert about["method"] == "ACDensity"
    given, kept = {"k": 5, "max_references": 40}, {"alpha": 1.0, "C": 1.0, "self_neighbour": True, "engine": "auto"}
    assert about["parameters"] == given | kept
    assert about["needs"] == ["embeddings"]
    assert (about["width"], about["seed"], about["version"]) == (16, 0, 2)
    assert about["training"]["pairs"] == 800
    assert about["training"]["same"] == int(faces.same.sum())
    assert about["versions"]["numpy"] == np.__version__
    assert about["versions"]["fairfr"] == fairfr.__version__
    assert len(about["digest"]) == len(about["fingerprint"]) == 16
    with safe_open(saved, "np") as plain:  # any reader of the format can open it
        assert "density_.references.vectors" in list(plain.keys())


def test_a_model_comes_back_with_all_it_knows(faces: Faces, tmp_path: Path) -> None:
    given = {"groups": {"g": faces.group}, "identities": faces.who}
    model = fairfr.DemoNorm(variant="M2").fit(faces.embeddings, faces.pairs, faces.same, **given, seed=3)
    model.save(tmp_path / "m.fairfr", with_faces=True)
    again = fairfr.load(tmp_path / "m.fairfr")
    assert type(again) is fairfr.DemoNorm
    assert again.get_params() == model.get_params()
    for name in ("width_", "groups_", "training_", "digest_", "holds_", "seed_", "report_", "overlay_"):
        assert getattr(again, name) == getattr(model, name), name
    assert again.training_["identities"] == 60
    used = np.unique(faces.pairs)
    assert again.training_["groups"] == {g: int((faces.group[used] == g).sum()) for g in "abc"}
    again.save(tmp_path / "n.fairfr", with_faces=True)
    assert (tmp_path / "n.fairfr").read_bytes() == (tmp_path / "m.fairfr").read_bytes()


def test_the_digest_is_that_of_the_data(faces: Faces) -> None:
    one, same = (fairfr.Platt().fit(faces.embeddings, faces.pairs, faces.same) for _ in range(2))
    other = fairfr.Platt().fit(faces.embeddings, faces.pairs, np.append(~faces.same[:1], faces.same[1:]))
    assert one.digest_ == same.digest_ != other.digest_


def test_parameters_set_after_fitting_do_not_reach_the_file(faces: Faces, tmp_path: Path) -> None:
    model = fairfr.ACLinear(C=0.5).fit(faces.embeddings, faces.pairs, faces.same).set_params(C=9.0)
    model.save(tmp_path / "m.fairfr")
    assert fairfr.load(tmp_path / "m.fairfr").C == 0.5


def test_saving_replaces_a_file_whole_or_not_at_all(faces: Faces, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = saved.read_bytes()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    model = fairfr.Platt().fit_scores(faces.cosine, faces.same)
    with pytest.raises(DataError, match="No space left"):
        model.save(saved)
    assert saved.read_bytes() == before
    assert [path.name for path in saved.parent.iterdir()] == ["model.fairfr"]


def test_a_saved_model_can_be_read_by_whoever_may_read_new_files(saved: Path) -> None:
    (saved.parent / "new").touch()
    assert saved.stat().st_mode == (saved.parent / "new").stat().st_mode


def test_a_folder_that_is_not_there_is_told(faces: Faces, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there is no folder"):
        fairfr.Platt().fit_scores(faces.cosine, faces.same).save(tmp_path / "no" / "m.fairfr")


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_no_file_no_model(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nothing\.fairfr cannot be read: No such file"):
        fairfr.load(tmp_path / "nothing.fairfr")
    with pytest.raises(DataError, match="cannot be read"):
        fairfr.load(tmp_path)


@pytest.mark.parametrize("content", [b"", b"\x80\x04\x95", b"PK\x03\x04" + b"\0" * 60, b"\x10" + b"\0" * 7 + b"{" * 16])
def test_other_files_are_no_models(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(DataError, match="is not a fairfr model"):
        fairfr.load(tmp_path / "x")


def test_a_plain_safetensors_file_is_no_model(tmp_path: Path) -> None:
    save_file({"a": np.zeros(3)}, tmp_path / "x")
    with pytest.raises(DataError, match="without its description"):
        fairfr.load(tmp_path / "x")


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_refused(saved: Path, share: float) -> None:
    content = saved.read_bytes()
    saved.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DataError, match="cut short or damaged"):
        fairfr.load(saved)


def test_a_longer_file_is_refused(saved: Path) -> None:
    saved.write_bytes(saved.read_bytes() + b"more")
    with pytest.raises(DataError, match="cut short or damaged"):
        fairfr.load(saved)


def test_a_flipped_bit_is_noticed_anywhere(saved: Path) -> None:
    content = saved.read_bytes()
    rng = np.random.default_rng(0)
    for place in [*rng.integers(0, len(content), 60).tolist(), 9, len(content) - 1]:
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        saved.write_bytes(damaged)
        with pytest.raises(DataError):
            fairfr.load(saved)


@pytest.mark.parametrize("length", [2**63, 2**40, 2**31], ids=["exbibytes", "a tebibyte", "gibibytes"])
def test_an_absurd_header_is_refused_unread(saved: Path, length: int) -> None:
    saved.write_bytes(struct.pack("<Q", length) + saved.read_bytes()[8:])
    with pytest.raises(DataError, match="cut short or damaged"):
        fairfr.load(saved)


@pytest.mark.parametrize(
    "entry",
    [
        {"shape": [2**40, 2**20]},
        {"shape": [2, 2]},
        {"shape": [-1, 16]},
        {"dtype": "F64"},
        {"data_offsets": [0, 2**50]},
        {"dtype": "F8_E4M3"},
        {"shape": None},
    ],
)
def test_sizes_that_contradict_the_file_are_refused(saved: Path, entry: dict[str, Any]) -> None:
    header, data = parts(saved)
    header["density_.references.vectors"] |= entry
    write(saved, header, data)
    with pytest.raises(DataError, match="cut short or damaged"):
        fairfr.load(saved)


def test_arrays_that_contradict_the_description_are_refused(saved: Path) -> None:
    """A file that safetensors finds in order, with an array of another width than the model says."""
    arrays, (header, _) = load_file(saved), parts(saved)
    arrays["density_.references.vectors"] = arrays["density_.references.vectors"][:, :9].copy()
    save_file(arrays, saved, metadata=header["__metadata__"])
    with pytest.raises(DataError, match=r"not the described ones: 'density_\.references\.vectors'"):
        fairfr.load(saved)
    del arrays["density_.references.vectors"]
    save_file(arrays, saved, metadata=header["__metadata__"])
    with pytest.raises(DataError, match="missing"):
        fairfr.load(saved)


def set_key(key: str, value: Any) -> Change:
    return lambda about: about.update({key: value})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (set_key("version", 3), r"newer fairfr \(version 3 of the format; this one reads up to 2\)"),
        (set_key("version", 1), r"older fairfr \(version 1 of the format; this one reads from 2 on\)\. Fit it again"),
        (set_key("holds", {"face_vectors": -1}), "-1 face vectors"),
        (set_key("holds", None), "not one that fairfr writes"),
        (set_key("version", "1"), "without its description"),
        (set_key("format", "something else"), "without its description"),
        (set_key("method", "ACDensty"), "'ACDensty', which this fairfr does not know.*Did you mean 'ACDensity'"),
        (set_key("method", "os.system"), "does not know"),
        (set_key("method", 3), "does not know"),
        (set_key("parameters", {"k": -3}), "must be at least 1"),
        (set_key("parameters", {"no such": 1}), "unknown key"),
        (set_key("needs", []), "needs"),
        (set_key("fingerprint", "0"), "not made as this fairfr makes them"),
        (set_key("width", 9), "width"),
        (set_key("overlay", {"list": []}), "overlay"),
        (lambda about: about["state"].update({"base_": {"piece": "Popen", "fields": {"args": "ls"}}}), "not made"),
        (lambda about: about["state"].update({"fit": 1}), "not a mapping of attributes"),
        (lambda about: about["state"]["ridge_"]["fields"].pop("intercept"), "has the fields"),
        (lambda about: about["state"].update({"ridge_": {"array": "nowhere"}}), r"is missing|not made"),
        (lambda about: about.pop("state"), "not one that fairfr writes"),
    ],
)
def test_descriptions_of_something_else_are_refused(saved: Path, change: Change, message: str) -> None:
    redescribe(saved, change)
    with pytest.raises(DataError, match=message):
        fairfr.load(saved)


def test_a_file_with_the_old_names_of_values_is_read(faces: Faces, tmp_path: Path) -> None:
    path = tmp_path / "beta.fairfr"
    model = fairfr.Beta(variant="unconstrained").fit(faces.embeddings, faces.pairs, faces.same)
    model.save(path)
    redescribe(path, set_key("parameters", {"variant": "paper", "solver": "paper"}))
    loaded = fairfr.load(path)
    assert loaded.get_params() == {"variant": "unconstrained", "solver": "sklearn"}
    expected = model.probability(faces.embeddings, faces.pairs)
    np.testing.assert_array_equal(loaded.probability(faces.embeddings, faces.pairs), expected)


def test_a_network_of_another_width_or_type_is_refused(faces: Faces, tmp_path: Path) -> None:
    path = tmp_path / "network.fairfr"
    fairfr.ACMLP(hidden=4, epochs=1).fit(faces.embeddings, faces.pairs, faces.same).save(path)
    whole = path.read_bytes()
    redescribe(path, set_key("width", 9))
    with pytest.raises(DataError, match="the network takes 17 inputs, not 10"):
        fairfr.load(path)
    path.write_bytes(whole)
    arrays = {name: array.astype(np.float64) for name, array in load_file(path).items()}
    save_file(arrays, path, metadata=parts(path)[0]["__metadata__"])

    def in_float64(about: dict[str, Any]) -> None:
        about["arrays"] = {name: ["float64", shape] for name, (_, shape) in about["arrays"].items()}

    redescribe(path, in_float64)
    with pytest.raises(DataError, match="not in float32"):
        fairfr.load(path)


@pytest.mark.parametrize(
    "error",
    [RuntimeError("can't start new thread"), ImportError("no numba"), OSError("read-only"), MemoryError("full")],
)
def test_the_file_is_not_blamed_for_what_the_machine_lacks(
    saved: Path, error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: object, view: object) -> None:
        raise error

    monkeypatch.setattr(ACDensity, "predict", fail)
    with pytest.raises(type(error), match=str(error)):
        fairfr.load(saved)


def test_nothing_but_marked_parts_is_ever_made() -> None:
    for node in (
        {"piece": "Path", "fields": {}},
        {"piece": ["BetaMap"], "fields": {}},
        {"piece": "BetaMap", "fields": {}, "more": 1},
        {"object": 1},
        {"map": [[["unhashable"], 1]]},
        {"names": "missing"},
        [1, 2],
    ):
        with pytest.raises(DataError):
            state.decode(node, {})


def test_values_survive_being_taken_apart() -> None:
    value = {"a": [1, 2.5, None, True, "ü"], 3: (np.inf, -np.inf), "names": np.array(["x", "", "\0y"])}
    arrays: state.Arrays = {}
    node = json.loads(json.dumps(state.encode(value, arrays, "v"), allow_nan=False))
    again = state.decode(node, arrays)
    assert again["a"] == value["a"]
    assert again[3] == value[3]
    assert again["names"].tolist() == ["x", "", "\0y"]


def test_what_cannot_be_saved_is_told() -> None:
    for value in (object(), np.array([object()]), lambda: 1, np.zeros(2, dtype=complex)):
        with pytest.raises(DataError, match="cannot be saved"):
            state.encode(value, {}, "here_")


def test_a_network_with_moments_of_another_width_is_refused(faces: Faces, tmp_path: Path) -> None:
    path = tmp_path / "frappe.fairfr"
    fairfr.Frappe(clusters=2, epochs=1, hidden=4).fit(faces.embeddings, faces.pairs, faces.same).save(path)
    arrays = load_file(path)
    arrays["mean_"] = arrays["mean_"][:3].copy()
    save_file(arrays, path, metadata=parts(path)[0]["__metadata__"])

    def shorter(about: dict[str, Any]) -> None:
        about["arrays"]["mean_"] = ["float64", [3]]

    redescribe(path, shorter)
    with pytest.raises(DataError, match="must have 16 entries"):
        fairfr.load(path)


# -- made by hand ------------------------------------------------------------------------------------------------------


def fitted(name: str, faces: Faces, path: Path, **parameters: Any) -> Path:
    """A saved model of that name."""
    given = {"groups": {"g": faces.group}} if name in ("GST", "Oracle") else {}
    getattr(fairfr, name)(**parameters).fit(faces.embeddings, faces.pairs, faces.same, **given).save(
        path / "m.fairfr", with_faces=True
    )
    return path / "m.fairfr"


def rewrite(path: Path, change: Callable[[dict[str, np.ndarray]], object]) -> None:
    """The file with other arrays, whose description and checksum are right again."""
    header, _ = parts(path)
    about = json.loads(header["__metadata__"]["fairfr"])
    arrays = load_file(path)
    change(arrays)
    about.pop("checksum")
    about["arrays"] = {name: [array.dtype.name, list(array.shape)] for name, array in sorted(arrays.items())}
    about["checksum"] = model_file._checksum(about, arrays)
    save_file(arrays, path, metadata={"fairfr": json.dumps(about)})


@pytest.mark.parametrize("name", ["Temperature", "Platt", "ACLinear"])
@pytest.mark.parametrize("width", [65_537, 10**9, 10**15, -1, 0, True, 2.5, "many"])
def test_a_width_out_of_proportion_to_the_file_is_refused_before_it_takes_memory(
    faces: Faces, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, width: object
) -> None:
    path = fitted(name, faces, tmp_path)
    redescribe(path, set_key("width", width))
    monkeypatch.setattr(model_file, "_probe", lambda *_: pytest.fail("vectors of this width were made"))
    with pytest.raises(DataError, match="the width"):
        fairfr.load(path)


def test_a_method_of_scores_takes_vectors_as_wide_as_networks_give(faces: Faces, tmp_path: Path) -> None:
    path = fitted("Platt", faces, tmp_path)
    redescribe(path, set_key("width", 65_536))
    assert fairfr.load(path).width_ == 65_536


def test_many_groups_of_wide_vectors_take_no_more_memory_than_a_few(faces: Faces, tmp_path: Path) -> None:
    """A file of 14 kB took 2.5 GB."""
    path = fitted("Temperature", faces, tmp_path)
    redescribe(path, set_key("width", 65_536))
    redescribe(path, lambda about: about["training"].update({"groups": {f"g{n}": 1 for n in range(1_000)}}))
    tracemalloc.start()
    fairfr.load(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**29


@pytest.mark.parametrize("value", [{"map": []}, {"list": []}, None, "1", True, {"float": "nan"}, 1e300])
@pytest.mark.parametrize("at", [0, 1])
def test_a_map_of_a_cluster_that_is_none_is_refused(faces: Faces, tmp_path: Path, value: object, at: int) -> None:
    """Also one that few pairs would be mapped by."""
    path = fitted("FairCal", faces, tmp_path, K=3)

    def change(about: dict[str, Any]) -> None:
        about["state"]["maps_"]["list"][at]["fields"]["a"] = value

    redescribe(path, change)
    with pytest.raises(DataError, match=r"cannot be used"):
        fairfr.load(path)


def test_a_cluster_without_a_map_is_refused(faces: Faces, tmp_path: Path) -> None:
    path = fitted("FairCal", faces, tmp_path, K=3)
    for replaced in (lambda maps: maps.pop(), lambda maps: maps.__setitem__(2, 0.5)):
        content = path.read_bytes()
        redescribe(path, lambda about, replaced=replaced: replaced(about["state"]["maps_"]["list"]))
        with pytest.raises(DataError, match=r"cannot be used"):
            fairfr.load(path)
        path.write_bytes(content)


@pytest.mark.parametrize("at", range(3))
def test_a_map_of_any_group_must_be_one(faces: Faces, tmp_path: Path, at: int) -> None:
    path = fitted("Oracle", faces, tmp_path)

    def change(about: dict[str, Any]) -> None:
        about["state"]["maps_"]["map"][at][1] = 0.5

    redescribe(path, change)
    with pytest.raises(DataError, match="cannot be used"):
        fairfr.load(path)


@pytest.mark.parametrize("probability", [-0.1, 1.1])
def test_a_curve_that_leaves_0_to_1_anywhere_is_refused(faces: Faces, tmp_path: Path, probability: float) -> None:
    path = fitted("Isotonic", faces, tmp_path)
    rewrite(path, lambda arrays: arrays["probability_"].__setitem__(len(arrays["probability_"]) // 2, probability))
    with pytest.raises(DataError, match=r"probabilities outside \[0, 1\]"):
        fairfr.load(path)


@pytest.mark.parametrize(
    ("name", "number"), [("Isotonic", np.nan), ("Isotonic", np.inf), ("ACLinear", 1e300), ("ACLinear", np.nan)]
)
def test_numbers_that_no_fit_gives_are_refused(faces: Faces, tmp_path: Path, name: str, number: float) -> None:
    """Also where a prediction seldom gets to."""
    path = fitted(name, faces, tmp_path)

    def change(arrays: dict[str, np.ndarray]) -> None:
        array = max((array for array in arrays.values() if array.dtype == np.float64), key=lambda array: array.size)
        array.flat[-1] = number

    rewrite(path, change)
    with pytest.raises(DataError, match="numbers that no fit gives"):
        fairfr.load(path)
