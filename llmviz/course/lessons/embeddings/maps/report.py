"""Part of the chapter "Maps": how true a map is, in numbers, a question, the code."""

import numpy as np

from llmviz.course.lessons.embeddings.maps import atlas as maps
from llmviz.course.lessons.embeddings.maps import words
from llmviz.course.lessons.embeddings.maps.atlas import Ground, Request
from llmviz.course.lessons.embeddings.maps.params import of_snippet
from llmviz.course.lessons.embeddings.word_maps import Judged, mapped, of_own_kind
from llmviz.course.ui import kit
from llmviz.similarity import METHODS, project, trustworthiness
from llmviz.similarity.trust import trust_of_points


def say(here: Ground, judged: Judged, spots: list[int], method: str, request: Request) -> None:
    """Say how true a map is: as a whole, at the chosen points, beside the other maps."""
    k, n = judged.k, here.size
    kept = float(judged.kept.mean())
    paragraphs = [
        words.trust_of_map.format(
            name=words.methods[method],
            trust=float(judged.trust.mean()),
            kept=kept,
            k=k,
            share=kit.percent(kept / k),
            chance=k / (n - 1) * k,
        )
    ]
    paragraphs += [
        words.trust_of_point.format(
            word=kit.quote(here.labels[i]), kept=int(judged.kept[i]), k=k, trust=judged.trust[i]
        )
        for i in spots
    ]
    paragraphs += [_compared(here, judged, request), _own_kind(here, judged)]
    paragraphs.append(words.about[method].format(d=request.dimensions))
    kit.prose("\n\n".join(filter(None, paragraphs)))


def _own_kind(here: Ground, judged: Judged) -> str:
    """How many neighbours of a word are of its own kind, before training or after it."""
    share, chance = of_own_kind(here, judged.k)
    if np.isnan(share):
        return ""
    untrained = here.name[-1]
    line = words.own_kind_before if untrained else words.own_kind
    return line.format(k=judged.k, share=kit.percent(share), chance=kit.percent(chance))


def _compared(here: Ground, judged: Judged, request: Request) -> str:
    """What the maps reached that have been drawn of these vectors so far; "" of one alone."""
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
            points = maps.flat_map(here, request.dimensions)
        else:
            drawing = maps.atlas().find(here, like)
            if drawing is None or drawing.job.state != "done":
                continue
            points = drawing.job.results[-1]
        reached[method] = maps.judged(here, points, judged.k)
    if len(reached) < 2:
        return ""
    reports = ", ".join(
        words.reached.format(
            name=words.methods[method], trust=score.trust.mean(), kept=score.kept.mean()
        )
        for method, score in reached.items()
    )
    return words.compared.format(maps=reports, k=judged.k)


def ask(here: Ground, judged: Judged, spots: list[int], method: str) -> bool:
    """Ask how many of a point's neighbours on the map are true; the point is not chosen yet.

    Returns whether the numbers of the map may be shown.
    """
    free = [i for i in range(0, here.size, 7) if i not in spots]
    for i in sorted(free, key=lambda j: abs(int(judged.kept[j]) - judged.k / 3)):
        question = kept_question(here, judged, i, method)
        if question is not None:
            return kit.predict(question, "embeddings.maps.ask", covers=True)
    return True


def end(here: Ground, judged: Judged, method: str) -> None:
    """Say what was seen, on this map."""
    kit.seen(
        words.end,
        name=words.methods[method],
        n=here.size,
        c=kit.count(here.vectors.shape[1], "number"),
        d=judged.points.shape[1],
        kept=float(judged.kept.mean()),
        k=judged.k,
        worst=int(judged.kept.min()),
    )


def kept_question(here: Ground, judged: Judged, i: int, method: str) -> kit.Question | None:
    """Return the question how many neighbours of point i on a map are true ones.

    None where the k nearest are not one set, on the map or in truth, because the last of them and
    the next are equally far; and where the answers would be too near each other.
    """
    k, right = judged.k, int(judged.kept[i])
    if not (_one_set(here.vectors, i, k) and _one_set(judged.points, i, k)):
        return None
    others = [n for n in dict.fromkeys((k, k - 2, k // 2, 0)) if abs(n - right) >= 2][:2]
    if len(others) < 2:
        return None
    true = ", ".join(kit.quote(here.labels[j]) for j in judged.true[i][:4])
    c, d = here.vectors.shape[1], judged.points.shape[1]
    about = {"n": right, "k": k, "true": true, "name": words.methods[method], "c": c, "d": d}
    fewer = words.ask_fewer if c > d else words.ask_fewer_flat
    reasons = {n: fewer if n > right else words.ask_more for n in others}
    return kit.Question.among(
        words.ask,
        {right: words.ask_right, **reasons},
        right,
        lambda n: words.ask_answer.format(n=n, k=k),
        word=kit.quote(here.labels[i]),
        **about,
    )


def _one_set(points: np.ndarray, i: int, k: int) -> bool:
    """Whether the k points nearest to one of (N, d) are one set: no tie at the last of them."""
    far = np.sort(np.linalg.norm(points - points[i], axis=1))
    return len(far) <= k + 1 or far[k + 1] - far[k] > 1e-9 * max(far[k], 1e-300)


def code(state: kit.PageState, request: Request, judged: Judged) -> None:
    kit.show_code(
        [mapped, project, trustworthiness, trust_of_points],
        words.snippet.format(
            **of_snippet(state),
            arguments=request.arguments(),
            k=judged.k,
        ),
        f"{judged.trust.mean():.3f}",
    )
