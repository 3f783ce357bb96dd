"""Which people, images and groups pairs have, inside one data set and between two."""

from __future__ import annotations

import numpy as np

from fairfr.core.errors import ConfigError, did_you_mean, missing_groups_error
from fairfr.core.names import is_placeholder
from fairfr.core.types import I64, Bool, Grouping, Pairs, StrArray, VerificationSet
from fairfr.pairs.overlap import connected_components, infer_identities, near_duplicates


def pairs_with_any(pairs: Pairs, of_image: I64, wanted: I64) -> Bool:
    """Whether a pair has an image whose value in ``of_image`` (n,) is one of ``wanted``, (p,)."""
    highest = max(int(of_image.max(initial=-1)), int(wanted.max(initial=-1)))
    is_wanted = np.zeros(highest + 1, dtype=bool)
    is_wanted[wanted] = True
    return is_wanted[of_image[pairs.left]] | is_wanted[of_image[pairs.right]]


def unique_image_codes(data: VerificationSet) -> I64:
    """A number for each image, (n,): the same for copies of one image, whatever they are called."""
    n_images = len(data.images)
    if data.embeddings is None:
        return np.arange(n_images)
    heads, tails = near_duplicates(data.embeddings.vectors)
    return connected_components(n_images, heads, tails)


def image_identities(data: VerificationSet) -> I64:
    """A number for each image's person, (n,); where identities are unknown, genuine pairs connect images."""
    return infer_identities(data.identity, data.pairs.left[data.same], data.pairs.right[data.same])


def has_identities(data: VerificationSet) -> bool:
    """Whether it can be seen who is on an image: not where pairs come as scores alone, without ids."""
    return not is_placeholder(str(data.images[0])) or bool(np.any(data.identity >= 0))


def shared_identities(one: VerificationSet, other: VerificationSet) -> tuple[I64, I64]:
    """Numbers for the people of two data sets, (n,) and (m,): the same number is the same person.

    They are the same if both sets give them the same name, or if they share an image: by its id, or by its vector.
    """
    own = image_identities(one)
    theirs = image_identities(other)
    people = np.concatenate([own, int(own.max(initial=-1)) + 1 + theirs])
    n_nodes = int(people.max(initial=-1)) + 1
    left, right = _copies_in(one, other)
    heads = [people[left]]
    tails = [people[right]]
    for texts in _texts_in_common(one, other):
        known = texts != ""
        codes = np.unique(texts[known], return_inverse=True)[1]
        heads.append(people[known])
        tails.append(n_nodes + codes)  # a node for each text connects those who have it
        n_nodes += int(codes.max(initial=-1)) + 1
    numbers = connected_components(n_nodes, np.concatenate(heads), np.concatenate(tails))[people]
    return numbers[: len(own)], numbers[len(own) :]


def _texts_in_common(one: VerificationSet, other: VerificationSet) -> list[StrArray]:
    """Texts by which a person or an image is known in both sets, (n + m,) each; blank where there is none."""
    if one.source == "synthetic" and not _same_people(one, other):
        return []  # stand-ins of two benchmarks have the same ids, which mean nothing
    texts = [np.concatenate([_names(one), _names(other)])]
    if has_identities(one) and has_identities(other):
        texts.append(np.concatenate([one.images, other.images]))
    return texts


def _same_people(one: VerificationSet, other: VerificationSet) -> bool:
    """Whether two stand-ins show the same people: then they have the same structure, drawn from the same seed."""
    return np.array_equal(one.images, other.images) and np.array_equal(one.identity, other.identity)


def _copies_in(one: VerificationSet, other: VerificationSet) -> tuple[I64, I64]:
    """Images whose vectors are the same, as rows of both sets together; none without vectors to compare."""
    none = np.empty(0, dtype=np.int64)
    if one.embeddings is None or other.embeddings is None:
        return none, none
    own = one.embeddings.vectors
    theirs = other.embeddings.vectors
    if own.shape[1] != theirs.shape[1]:
        return none, none
    return near_duplicates(np.concatenate([own, theirs]))


def _names(data: VerificationSet) -> StrArray:
    """The name of the person on each image, (n,); blank where unknown."""
    if data.people is None:
        return np.where(data.identity < 0, "", data.identity.astype(str))
    return np.append(np.array(data.people, dtype=str), "")[data.identity]


def protocol_grouping(data: VerificationSet, name: str | None, protocol: str) -> Grouping:
    """The grouping called ``name`` of a data set; None: the one that group-aware methods use."""
    if data.grouping is None:
        raise missing_groups_error(f"protocol={protocol}", data.id, data.group_columns)
    if name is not None and name not in data.groupings:
        raise ConfigError(
            f"protocol.splitter.grouping={name}: {data.id} has no such grouping.{did_you_mean(name, data.groupings)}"
        )
    return data.groupings[name or data.grouping]


def group_code(grouping: Grouping, group: str, dataset: str) -> int:
    """The code of a group; capitals do not matter."""
    names = [level.casefold() for level in grouping.levels]
    if group.casefold() not in names:
        raise ConfigError(
            f"protocol.splitter.group={group}: {dataset} has no such group by {grouping.id}."
            f"{did_you_mean(group, grouping.levels)}"
        )
    return names.index(group.casefold())
