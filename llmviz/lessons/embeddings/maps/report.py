"""Part of the chapter "Maps": what a map is worth, in numbers, a question, the code."""

from __future__ import annotations

from llmviz.lessons.embeddings.maps import words
from llmviz.lessons.embeddings.maps.atlas import Ground, Judged, Request, atlas, flat_map, judge
from llmviz.lessons.embeddings.maps.params import of_snippet
from llmviz.similarity import METHODS, project, trustworthiness
from llmviz.similarity.trust import trust_of_points
from llmviz.ui.code import show_code
from llmviz.ui.common import percent
from llmviz.ui.prose import prose, quote
from llmviz.ui.question import Question, predict
from llmviz.ui.state import PageState


def say(here: Ground, judged: Judged, spots: list[int], shown: str, request: Request) -> None:
    k, n = judged.k, here.size
    kept = float(judged.kept.mean())
    prose(
        words.SAID.format(
            name=words.METHODS[shown],
            trust=float(judged.trust.mean()),
            kept=kept,
            k=k,
            share=percent(kept / k),
            chance=k / (n - 1) * k,
        )
    )
    for i in spots:
        prose(
            words.SAID_POINT.format(
                word=quote(here.labels[i]), kept=int(judged.kept[i]), k=k, trust=judged.trust[i]
            )
        )
    _compared(here, judged, request)
    prose(words.ABOUT[shown])


def _compared(here: Ground, judged: Judged, request: Request) -> None:
    """Say what the maps reached that have been drawn of these vectors so far."""
    reached = {}
    for method in METHODS:
        like = Request(
            method,
            request.dimensions,
            request.seed,
            request.perplexity if method == request.method else 30.0,
            request.graph if method == request.method else 15,
        )
        if method == "pca":
            points = flat_map(here.name, here.vectors, request.dimensions)
        else:
            drawing = atlas().find(here, like)
            if drawing is None or drawing.job.state != "done":
                continue
            points = drawing.job.results[-1]
        reached[method] = judge(here, points, judged.k)
    if len(reached) > 1:
        said = ", ".join(
            words.REACHED.format(
                name=words.METHODS[method], trust=one.trust.mean(), kept=one.kept.mean()
            )
            for method, one in reached.items()
        )
        prose(words.COMPARED.format(said=said, k=judged.k))


def ask(here: Ground, judged: Judged, spots: list[int], shown: str) -> None:
    """Ask how many of a point's neighbours on the map are true; the point is not chosen yet."""
    k = judged.k
    free = [i for i in range(0, here.size, 7) if i not in spots]
    if k < 4 or not free:
        return
    i = min(free, key=lambda j: abs(int(judged.kept[j]) - k / 3))
    right = int(judged.kept[i])
    answers = sorted({right, k, max(0, k - 2) if right != k - 2 else 1})
    if len(answers) < 3:
        return
    true = ", ".join(quote(here.labels[j]) for j in judged.true[i][:4])
    predict(
        Question(
            words.ASK.format(word=quote(here.labels[i]), k=k, name=words.METHODS[shown]),
            [words.ASK_ANSWER.format(n=n, k=k) for n in answers],
            answers.index(right),
            [
                words.ASK_RIGHT.format(n=right, k=k, true=true)
                if n == right
                else words.ASK_WRONG.format(c=here.vectors.shape[1], d=judged.points.shape[1])
                for n in answers
            ],
        ),
        "embeddings.maps.ask",
    )


def code(state: PageState, request: Request, judged: Judged) -> None:
    show_code(
        [project, trustworthiness, trust_of_points],
        words.SNIPPET.format(
            **of_snippet(state),
            arguments=request.arguments(),
            k=judged.k,
        ),
        f"{judged.trust.mean():.3f}",
    )
