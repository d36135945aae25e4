"""The gradients of the surfaces are autograd's, and their minima are where they say."""

import pytest
import torch

from llmviz.training.surfaces import SURFACES

POINTS = torch.tensor([[-1.3, 0.4], [0.0, 0.0], [2.0, -1.5], [0.7, 0.9]], dtype=torch.float64)
each = pytest.mark.parametrize("name", sorted(SURFACES))


@each
def test_gradient_is_autograds(name):
    surface = SURFACES[name]
    leaf = POINTS.clone().requires_grad_()
    (theirs,) = torch.autograd.grad(surface.height(leaf).sum(), leaf)
    torch.testing.assert_close(surface.gradient(POINTS), theirs, rtol=1e-12, atol=1e-12)


@each
def test_minima_are_flat_lowest_and_drawn(name):
    surface = SURFACES[name]
    places = torch.tensor(surface.minima, dtype=torch.float64)
    assert surface.gradient(places).abs().max() < 1e-9
    assert torch.allclose(
        surface.height(places), torch.tensor(surface.floor, dtype=torch.float64), atol=1e-9
    )
    assert surface.grid(301, 201).min() >= surface.floor - 1e-9
    assert all(surface.contains(place) for place in surface.minima)
    assert surface.contains(surface.start)


@each
def test_grid_is_the_height_at_its_places(name):
    surface = SURFACES[name]
    grid = surface.grid(5, 3)
    assert grid.shape == (3, 5)
    corners = torch.tensor([surface.low, surface.high], dtype=torch.float64)
    torch.testing.assert_close(grid[0, 0], surface.height(corners[0]))
    torch.testing.assert_close(grid[2, 4], surface.height(corners[1]))
    right_below = torch.tensor([surface.high[0], surface.low[1]], dtype=torch.float64)
    torch.testing.assert_close(grid[0, 4], surface.height(right_below))


def test_all_are_drawn_without_distortion():
    for surface in SURFACES.values():
        wide, tall = (b - a for a, b in zip(surface.low, surface.high, strict=True))
        assert wide / tall == pytest.approx(1.5)


def test_a_point_outside_is_outside():
    assert not SURFACES["bowl"].contains((99.0, 0.0))
