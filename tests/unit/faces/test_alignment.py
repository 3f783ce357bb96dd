"""The transform against hand-made ones, and the warp of pictures whose result can be read off."""

from __future__ import annotations

import numpy as np
import pytest

from fairfr.faces.alignment import (
    MAX_ALIGNMENT_ERROR,
    TEMPLATE,
    align,
    alignment_error,
    similarity_transform,
    warp,
)


@pytest.mark.parametrize("degrees", [0, 30, -100, 180])
@pytest.mark.parametrize("scale", [0.3, 1.0, 2.5])
def test_scale_rotation_and_shift_are_recovered(degrees: float, scale: float) -> None:
    angle = np.deg2rad(degrees)
    turned = scale * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    source = np.array([[10.0, 20.0], [60.0, 22.0], [35.0, 50.0], [15.0, 80.0], [58.0, 75.0]])
    found = similarity_transform(source, source @ turned.T + [3.0, -7.0])
    np.testing.assert_allclose(found, np.column_stack([turned, [3.0, -7.0]]), atol=1e-9)


def test_a_mirrored_face_is_not_mirrored_back() -> None:
    mirrored = TEMPLATE * [-1, 1] + [112, 0]
    matrix = similarity_transform(mirrored, TEMPLATE)
    assert np.linalg.det(matrix[:, :2]) > 0


def test_it_is_the_least_squares_fit() -> None:
    noisy = TEMPLATE + np.random.default_rng(0).normal(scale=3, size=TEMPLATE.shape)
    # x' = a x - b y + c, y' = b x + a y + d is linear in (a, b, c, d)
    rows = [[x, -y, 1, 0] for x, y in noisy] + [[y, x, 0, 1] for x, y in noisy]
    a, b, c, d = np.linalg.lstsq(np.array(rows), TEMPLATE.T.ravel(), rcond=None)[0]
    np.testing.assert_allclose(similarity_transform(noisy, TEMPLATE), [[a, -b, c], [b, a, d]], atol=1e-9)


def test_whole_shifts_copy_pixels_and_leave_black_outside() -> None:
    image = np.arange(5 * 6 * 3, dtype=np.uint8).reshape(5, 6, 3)
    out = warp(image, np.array([[1.0, 0, 2], [0, 1, 1]]), 8)
    np.testing.assert_array_equal(out[1:6, 2:8], image)
    assert out[0].max() == out[6:].max() == out[:, :2].max() == 0


def test_between_pixels_the_mean_counts() -> None:
    image = np.array([[[0.0], [10.0]], [[20.0], [50.0]]])
    # target pixel (0, 0) lies at (0.75, 0.25) of the image: 7.5 in the upper row, 42.5 in the lower
    out = warp(image, np.array([[1.0, 0, -0.75], [0, 1, -0.25]]), 1)
    assert out[0, 0, 0] == pytest.approx(0.75 * 7.5 + 0.25 * 42.5)


def test_a_ramp_stays_a_ramp_under_scale_and_rotation() -> None:
    y, x = np.mgrid[0:200, 0:200].astype(np.float64)
    image = np.stack([x, y, 2 * x - y + 300], axis=2)
    points = (TEMPLATE - 56) @ (1.3 * np.array([[0.8, 0.6], [-0.6, 0.8]])) + 100
    out = align(image, points, 112)
    # bilinear sampling is exact on planes: at each template point the ramp reads the landmark's coordinates
    fitted = similarity_transform(points, TEMPLATE)
    at = np.array([[20, 30], [56, 56], [90, 70]])
    expected = (at - fitted[:, 2]) @ np.linalg.inv(fitted[:, :2]).T
    np.testing.assert_allclose(out[at[:, 1], at[:, 0], :2], expected, atol=1e-4)
    np.testing.assert_allclose(out[56, 56, 2], 2 * expected[1, 0] - expected[1, 1] + 300, atol=1e-4)


def test_a_face_follows_the_size_and_misfit_sees_another_order() -> None:
    y, x = np.mgrid[0:112, 0:112].astype(np.float64)
    twice = align(np.stack([x, y, x], axis=2), TEMPLATE, 224)
    np.testing.assert_allclose(twice[60, 100, :2], [50, 30], atol=1e-4)
    assert alignment_error(3 * TEMPLATE + 5) == pytest.approx(0, abs=1e-9)
    all_x_then_all_y = TEMPLATE.T.ravel().reshape(5, 2)
    assert alignment_error(all_x_then_all_y) > MAX_ALIGNMENT_ERROR
