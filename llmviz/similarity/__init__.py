"""Distances, neighbours, analogies, maps and how far to trust them. NumPy only, no torch."""

from llmviz.similarity.bm25 import BM25, bm25
from llmviz.similarity.clusters import Clusters, adjusted_rand, kmeans, purity
from llmviz.similarity.measures import (
    METRICS,
    CosineTerms,
    EuclideanTerms,
    cosine,
    cosine_terms,
    dot,
    euclidean,
    euclidean_terms,
    nearest_spellings,
    pairwise,
)
from llmviz.similarity.neighbours import Neighbours, analogy, best, measure_all, nearest
from llmviz.similarity.pairs import (
    AnalogyScores,
    crowd,
    in_plane,
    mean_cosine_of_others,
    row_cosines,
    score_analogies,
    unit_rows,
)
from llmviz.similarity.passages import Passage, cut, search_words
from llmviz.similarity.projection import METHODS, PCA, align, pca, project, project_steps
from llmviz.similarity.table import NotOneRow, VectorTable, one_hot, projector_labels, renumbered
from llmviz.similarity.trust import neighbour_ids, point_trustworthiness, trustworthiness

__all__ = [
    "BM25",
    "METHODS",
    "METRICS",
    "PCA",
    "AnalogyScores",
    "Clusters",
    "CosineTerms",
    "EuclideanTerms",
    "Neighbours",
    "NotOneRow",
    "Passage",
    "VectorTable",
    "adjusted_rand",
    "align",
    "analogy",
    "best",
    "bm25",
    "cosine",
    "cosine_terms",
    "crowd",
    "cut",
    "dot",
    "euclidean",
    "euclidean_terms",
    "in_plane",
    "kmeans",
    "mean_cosine_of_others",
    "measure_all",
    "nearest",
    "nearest_spellings",
    "neighbour_ids",
    "one_hot",
    "pairwise",
    "pca",
    "point_trustworthiness",
    "project",
    "project_steps",
    "projector_labels",
    "purity",
    "renumbered",
    "row_cosines",
    "score_analogies",
    "search_words",
    "trustworthiness",
    "unit_rows",
]
