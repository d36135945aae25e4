"""Tests of what pages share use the small model of the pages' tests."""

from tests.pages.conftest import bundle, folder

__all__ = ["bundle", "folder"]
