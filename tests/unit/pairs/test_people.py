"""Who hangs together."""

from __future__ import annotations

import numpy as np

from fairfr.pairs.people import connected_components, infer_identities


def test_components_follow_links() -> None:
    found = connected_components(6, np.array([0, 1, 4]), np.array([1, 2, 5]))
    assert found[0] == found[1] == found[2] and found[4] == found[5]
    assert len({found[0], found[3], found[4]}) == 3


def test_unknown_images_join_whom_genuine_pairs_name_and_known_ones_stay_apart() -> None:
    known = np.array([7, 9, -1, -1, -1, 9, -1])
    # image 2 is paired with 0 (person 7), 3 with 2, 4 with nobody; 0 and 1 are known and stay two people
    people = infer_identities(known, np.array([0, 2, 0]), np.array([2, 3, 1]))
    assert people[0] == people[2] == people[3]
    assert people[1] == people[5] != people[0]
    assert len({people[0], people[1], people[4], people[6]}) == 4
    assert sorted(set(people.tolist())) == [0, 1, 2, 3]
