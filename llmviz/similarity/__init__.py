"""Distances, neighbours, analogies, maps and how far to trust them. NumPy only, no torch."""

from llmviz.similarity.measures import (
    METRICS,
    CosineTerms,
    EuclideanTerms,
    Neighbours,
    analogy,
    cosine,
    cosine_terms,
    dot,
    euclidean,
    euclidean_terms,
    mean_vector,
    nearest,
    nearest_spellings,
    pairwise,
)
from llmviz.similarity.projection import METHODS, PCA, align, pca, project, project_steps
from llmviz.similarity.table import NotOneRow, VectorTable, projector_labels
from llmviz.similarity.trust import neighbour_ids, point_trustworthiness, trustworthiness

__all__ = [
    "METHODS",
    "METRICS",
    "PCA",
    "CosineTerms",
    "EuclideanTerms",
    "Neighbours",
    "NotOneRow",
    "VectorTable",
    "align",
    "analogy",
    "cosine",
    "cosine_terms",
    "dot",
    "euclidean",
    "euclidean_terms",
    "mean_vector",
    "nearest",
    "nearest_spellings",
    "neighbour_ids",
    "pairwise",
    "pca",
    "point_trustworthiness",
    "project",
    "project_steps",
    "projector_labels",
    "trustworthiness",
]
