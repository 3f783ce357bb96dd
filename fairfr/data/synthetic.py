"""Stand-ins: synthetic sets with the sizes and the structure of RFW, BFW and LFW, when the real files are not there.

They are not faces. One small parametric model places images so that one cosine means different things in different
regions: groups and subgroups differ in how tightly identities crowd together and in how poor their images are.
Its eight numbers for each backbone are fitted to two rows of the paper's tables (scripts/fit_standin.py): the raw
cosine's error rates, and what AC-Linear gains over it. So a gain of AC-Linear on a stand-in is there by construction,
and no gain is evidence about faces. docs/lab/standin.md has the model, how it was fitted and what it predicts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from fairfr.core.errors import ConfigError, did_you_mean
from fairfr.core.types import (
    F32,
    F64,
    UNKNOWN,
    EmbeddingSet,
    Grouping,
    Pairs,
    StrArray,
    VerificationSet,
    cross_groupings,
    read_only,
)
from fairfr.data.benchmark_structure import (
    ATTRIBUTES,
    FOLD_LABELS,
    GROUPS,
    PERSONAL_ATTRIBUTES,
    Benchmark,
    BenchmarkStructure,
    make_structure,
)

VERSION = 3  # raise it when the same settings give other bytes
DIMS = 512
IMAGES_PER_CHUNK = 1024  # images at a time: 2 MB, stays in the processor's cache


@dataclass(frozen=True, slots=True)
class BackboneModel:
    """How good one backbone is on one benchmark.

    Attributes
    ----------
    effective_dims : float
        D. Directions have the spectrum ``exp(-j / D)``; unrelated ones have a cosine of about ``1 / sqrt(D)``.
    noise : float
        sigma. Length of the image noise, for an identity of length 1.
    noise_spread : float
        tau. Log-normal spread of that length over images.
    hard_share : float
        p. Share of hard images, whose noise is ``hard_factor`` times as long.
    gap : float
        delta. How much crowding, noise and hard images grow with the difficulty of the group.
    crowding : float
        lambda. Mean crowding of identities around their subgroup's centre.
    drift : float
        beta. How far poor images drift to a common place.
    subgroup_slope : float
        How much the logarithm of the crowding differs between the outer subgroups of a group and its middle.
    """

    effective_dims: float
    noise: float
    noise_spread: float
    hard_share: float
    gap: float
    crowding: float
    drift: float
    subgroup_slope: float


@dataclass(frozen=True, slots=True)
class StandIn:
    """What ``standin:`` in conf/dataset says: a structure, its groups' difficulty, and each backbone's quality.

    ``difficulty`` ranks the groups from -1 (easy) to 1 (hard); ``own_difficulty`` does so for a backbone that ranks
    them otherwise. ``scale`` is the share of the true size. The four after it are the constants common to all sets:
    the number of subgroups, the spread of crowding within one, how far subgroup centres lie from their group's (rho),
    and the noise of hard images (kappa).
    """

    structure: Benchmark
    seed: int
    difficulty: dict[str, float]
    backbones: dict[str, BackboneModel]
    scale: float = 1.0
    subgroups: int = 6
    crowding_spread: float = 0.05
    subgroup_distance: float = 0.8
    hard_factor: float = 10.0
    own_difficulty: dict[str, dict[str, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse what the generator cannot make."""
        groups = ["_".join(group) for group in GROUPS[self.structure]]
        own = {f"own_difficulty.{backbone}": ranks for backbone, ranks in self.own_difficulty.items()}
        for key, ranks in {"difficulty": self.difficulty, **own}.items():
            if sorted(ranks) != sorted(groups):
                found = ", ".join(sorted(ranks)) or "none"
                raise ConfigError(
                    f"dataset.standin.{key} must name the groups of {self.structure} ({', '.join(groups)}), "
                    f"found {found}."
                )
        if not 0 < self.scale <= 1:
            raise ConfigError(f"dataset.standin.scale must be above 0 and at most 1, found {self.scale}.")


def standin_digest(dataset: str, backbone: str, standin: StandIn) -> str:
    """Names the bytes that ``generate_standin`` would make, from its settings alone: a sha256 in hex."""
    settings = asdict(standin)
    settings["backbones"] = asdict(backbone_model(dataset, backbone, standin))
    settings["difficulty"] = settings.pop("own_difficulty").get(backbone, standin.difficulty)
    text = json.dumps([VERSION, dataset, backbone, settings], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def generate_standin(dataset: str, backbone: str, standin: StandIn, grouping: tuple[str, ...]) -> VerificationSet:
    """The stand-in of ``dataset`` as ``backbone`` would embed it, with the product of ``grouping`` as its groups.

    People, images and pairs depend on the seed, not on the backbone; vectors are drawn separately for each backbone.
    """
    digest = standin_digest(dataset, backbone, standin)
    structure = make_structure(
        standin.structure, standin.scale, standin.subgroups, _rng(standin.seed, standin.structure, "structure")
    )
    groupings, used = _groupings(dataset, standin, structure, grouping)
    images = _image_ids(standin.structure, structure)
    rng = _rng(standin.seed, standin.structure, backbone)
    standin = replace(standin, difficulty=standin.own_difficulty.get(backbone, standin.difficulty))
    vectors = _vectors(standin, backbone_model(dataset, backbone, standin), structure, rng)
    left, right, identity = (
        read_only(a.astype(np.int32)) for a in (structure.left, structure.right, structure.identity)
    )
    possible: dict[str, int] = {}
    if used is None:
        possible = _attribute_sizes(standin, structure)
    return VerificationSet(
        id=dataset,
        source="synthetic",
        backbone=backbone,
        digest=digest,
        images=images,
        identity=identity,
        pairs=Pairs(left, right),
        same=read_only(identity[left] == identity[right]),
        fold=read_only(structure.fold.astype(np.int16)),
        fold_labels=FOLD_LABELS[standin.structure],
        groupings=groupings,
        grouping=used,
        embeddings=EmbeddingSet(backbone, digest, images, vectors),
        group_columns=possible,
    )


def backbone_model(dataset: str, backbone: str, standin: StandIn) -> BackboneModel:
    """The numbers of ``backbone``, or an error that names the backbones there are."""
    if backbone not in standin.backbones:
        raise ConfigError(
            f"the synthetic stand-in of {dataset} has no backbone '{backbone}'."
            f"{did_you_mean(backbone, standin.backbones)} Others need files (source=files)."
        )
    return standin.backbones[backbone]


def _rng(seed: int, *purpose: str) -> np.random.Generator:
    text = "/".join((str(seed), *purpose))
    return np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()))


def _groupings(
    dataset: str, standin: StandIn, structure: BenchmarkStructure, wanted: tuple[str, ...]
) -> tuple[Mapping[str, Grouping], str | None]:
    """Each attribute of ``wanted`` and their product by id, and the product's id."""
    known = (*ATTRIBUTES[standin.structure], *PERSONAL_ATTRIBUTES[standin.structure])
    for attribute in wanted:
        if attribute not in known:
            raise ConfigError(
                f"dataset.grouping: the synthetic stand-in of {dataset} has no attribute '{attribute}'."
                f"{did_you_mean(attribute, known)}"
            )
    if not wanted:
        return {}, None
    parts = tuple(_attribute(attribute, standin, structure) for attribute in wanted)
    product = cross_groupings(parts)
    read_only(product.codes)
    return {part.id: part for part in [*parts, product]}, product.id


def _attribute_sizes(standin: StandIn, structure: BenchmarkStructure) -> dict[str, int]:
    """The attributes that a stand-in has, with their numbers of levels."""
    names = (*ATTRIBUTES[standin.structure], *PERSONAL_ATTRIBUTES[standin.structure])
    return {name: len(_attribute(name, standin, structure).levels) for name in names}


def _attribute(attribute: str, standin: StandIn, structure: BenchmarkStructure) -> Grouping:
    """One attribute of the images, which is the same on all images of a person."""
    benchmark = standin.structure
    if attribute in PERSONAL_ATTRIBUTES[benchmark]:
        shares = PERSONAL_ATTRIBUTES[benchmark][attribute]
        # draws of its own: whether it is asked for changes nothing else
        draws = _rng(standin.seed, benchmark, "attribute", attribute).random(len(structure.group))
        codes = np.searchsorted(np.cumsum(list(shares.values())), draws, side="right")
        of_person = np.where(codes < len(shares), codes, UNKNOWN)
        levels = tuple(shares)
    else:
        values = [group[ATTRIBUTES[benchmark].index(attribute)] for group in GROUPS[benchmark]]
        names, codes = np.unique(values, return_inverse=True)
        of_person = codes[structure.group]
        levels = tuple(map(str, names))
    return Grouping(attribute, levels, read_only(of_person[structure.identity].astype(np.int16)))


def _image_ids(benchmark: Benchmark, structure: BenchmarkStructure) -> StrArray:
    """Ids (n,) like ``synthetic/asian_female/0012/0003``: group, person in the group, image of the person."""
    names = ["_".join(group) for group in GROUPS[benchmark]]
    person = np.zeros(len(structure.group), dtype=np.int64)
    for g in range(len(names)):
        members = structure.group == g
        person[members] = np.arange(members.sum())
    of_image = structure.group[structure.identity], person[structure.identity], structure.number
    rows = zip(*(values.tolist() for values in of_image), strict=True)
    ids: StrArray = np.array([f"synthetic/{names[g]}/{who:04d}/{number:04d}" for g, who, number in rows])
    return read_only(ids)


def _vectors(standin: StandIn, model: BackboneModel, structure: BenchmarkStructure, rng: np.random.Generator) -> F32:
    """Unit vectors (n, 512): identity, plus noise of the image's own length, plus drift if that is long."""
    difficulty = np.array([standin.difficulty["_".join(group)] for group in GROUPS[standin.structure]])
    spectrum = np.exp(-np.arange(DIMS) / model.effective_dims).astype(np.float32)
    people = _people(standin, model, model.gap * difficulty, structure, spectrum, rng)
    hardness = model.gap * difficulty[structure.group[structure.identity]]
    noise = _noise_lengths(standin, model, hardness, rng)
    place = _directions(1, rng, spectrum)[0]
    signs = rng.choice(np.array([-1, 1], dtype=np.float32), (2, DIMS))
    vectors = np.empty((len(noise), DIMS), dtype=np.float32)
    for start in range(0, len(noise), IMAGES_PER_CHUNK):
        rows = slice(start, start + IMAGES_PER_CHUNK)
        length = noise[rows, None]
        chunk = length * _directions(len(length), rng, spectrum)
        chunk += people[structure.identity[rows]]
        chunk += model.drift * np.maximum(0, length - np.float32(model.noise)) * place
        vectors[rows] = _unit(_rotate(chunk, signs))
    return read_only(vectors)


def _people(
    standin: StandIn,
    model: BackboneModel,
    hardness: F64,
    structure: BenchmarkStructure,
    spectrum: F32,
    rng: np.random.Generator,
) -> F32:
    """Where each identity lies (K, 512): near its subgroup's centre, the nearer the more crowded the subgroup."""
    n_groups = len(hardness)
    n_sub = standin.subgroups
    centres = np.repeat(_directions(n_groups, rng, spectrum), n_sub, axis=0)
    centres = _unit(centres + standin.subgroup_distance * _directions(n_groups * n_sub, rng, spectrum))
    slope = model.subgroup_slope * np.linspace(-1, 1, n_sub)[structure.subgroup]
    crowding = model.crowding * np.exp(hardness[structure.group] + slope)
    crowding += standin.crowding_spread * rng.standard_normal(len(crowding))
    share = np.clip(crowding, 0.02, 0.95).astype(np.float32)[:, None]
    own = _directions(len(crowding), rng, spectrum)
    common = centres[structure.group * n_sub + structure.subgroup]
    people: F32 = share * common + np.sqrt(1 - share**2) * own
    return people


def _noise_lengths(standin: StandIn, model: BackboneModel, hardness: F64, rng: np.random.Generator) -> F32:
    """Length of the noise of each image (n,), whose group is ``hardness`` (n,) harder than the average."""
    length = model.noise * np.exp(hardness / 4 + model.noise_spread * rng.standard_normal(len(hardness)))
    hard = rng.random(len(hardness)) < np.minimum(0.5, model.hard_share * np.exp(hardness))
    return np.where(hard, standin.hard_factor * length, length).astype(np.float32)


def _directions(count: int, rng: np.random.Generator, spectrum: F32) -> F32:
    """Random unit rows (count, 512) with the given ``spectrum`` (512,).

    All of them have the same one. A centre drawn equally in all directions would lie where there is next to no
    noise, and a method that uses the midpoint of a pair could read its group off it.
    """
    return _unit(rng.standard_normal((count, DIMS), dtype=np.float32) * spectrum)


def _unit(rows: F32) -> F32:
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return rows


def _rotate(rows: F32, signs: F32) -> F32:
    """``rows`` (c, 512) under one random rotation, up to scale: cosines stay, the spectrum leaves the axes.

    Sign flips and Walsh-Hadamard transforms instead of a matrix product, whose last bits depend on the number of
    threads.
    """
    columns = np.ascontiguousarray(rows.T)
    for flip in signs:
        columns *= flip[:, None]
        half = DIMS // 2
        while half:
            blocks = columns.reshape(-1, 2, half * columns.shape[1])
            columns = np.stack([blocks[:, 0] + blocks[:, 1], blocks[:, 0] - blocks[:, 1]], axis=1).reshape(DIMS, -1)
            half //= 2
    return np.ascontiguousarray(columns.T)
