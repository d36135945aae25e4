"""Tests of colours and figures."""
