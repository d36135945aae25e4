"""Figures of the training lesson: arrays and labels in, plotly figures out."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from llmviz.figures.theme import Mode, plotly_layout, role_color


def loss_curve(
    steps: np.ndarray, train: np.ndarray, validation: np.ndarray, mode: Mode = "light"
) -> go.Figure:
    """Training loss (N,) and validation loss (N,), NaN where not measured, over steps (N,)."""
    measured = ~np.isnan(validation)
    figure = go.Figure()
    figure.add_scatter(
        x=steps,
        y=train,
        mode="lines",
        name="training",
        line={"width": 1, "color": role_color("residual", mode)},
    )
    figure.add_scatter(
        x=steps[measured],
        y=validation[measured],
        mode="lines+markers",
        name="validation",
        line={"width": 2, "color": role_color("query", mode)},
    )
    figure.update_layout(**plotly_layout(mode))
    figure.update_xaxes(title="step")
    figure.update_yaxes(title="loss, nats per token", rangemode="tozero")
    return figure
