"""Part of the chapter "Maps": how true a map is, in numbers, a question, the code."""

import numpy as np

from llmviz.course.lessons.embeddings.maps import of_snippet, words
from llmviz.course.lessons.embeddings.maps.atlas import Ground, Request
from llmviz.course.lessons.embeddings.word_maps import Judged, mapped, of_own_kind
from llmviz.course.ui import kit
from llmviz.similarity import project, trustworthiness
from llmviz.similarity.trust import trust_of_points


def say(here: Ground, judged: Judged, method: str, request: Request) -> None:
    """Say how true a map is as a whole, and what its method does."""
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
    paragraphs.append(_own_kind(here, judged))
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


def asked(
    here: Ground, judged: Judged, spots: list[int], method: str
) -> tuple[kit.Question, int] | None:
    """Return a question how many of a point's neighbours on the map are true, and which point.

    It is none of the chosen ones, whose lines are drawn. None where no point is fit.
    """
    free = [i for i in range(0, here.size, 7) if i not in spots]
    for i in sorted(free, key=lambda j: abs(int(judged.kept[j]) - judged.k / 3)):
        question = kept_question(here, judged, i, method)
        if question is not None:
            return question, i
    return None


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
