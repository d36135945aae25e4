"""Chapter "Token after token": the loop that writes, round by round, and what its cache saves.

T tokens of the prompt, N rounds.
"""

import streamlit as st

from llmviz.course.components.token_loop.view import STAGES, LoopRound, token_loop
from llmviz.course.figures.attention import Axes, against_size
from llmviz.course.lessons.sampling import params, source
from llmviz.course.lessons.sampling.loop import ROUNDS, words
from llmviz.course.ui import engine, kit
from llmviz.evaluation.cache_costs import TRIES, CacheCosts, cache_costs
from llmviz.interpretability.writing_rounds import Round, vectors_computed, write_slowly
from llmviz.models.transformers import require_transformer
from llmviz.sampling.generation import can_cache

READ = 60  # tokens of the prompt that are read, the last ones
KEY, GUESS = "sampling.loop", "sampling.loop.fresh"
NEAR = 1.1  # times; two measured times that differ by less are about the same


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the first round, ask what a later one computes, then all rounds and their cost."""
    kit.prose(words.hook)
    prompt = source.prompted(state)
    if prompt is None or kit.or_refused(require_transformer, prompt.bundled.model) is None:
        kit.source(state, opened=True)
        return
    bundled = prompt.bundled
    ids = prompt.ids[-min(READ, bundled.model.context_length) :]
    cacheable = can_cache(bundled.model)
    rounds = rounds_of(bundled, ids)
    pick = kit.names_of([rounds[0].pick], bundled.tokenizer)[0].lstrip("·") or "·"
    asked = kit.Question.of(words.ask, pick=pick) if len(rounds) > 1 else None
    guess = kit.Guess(GUESS, asked, state["moment"] >= len(STAGES), leads=f"moment={len(STAGES)}")
    shown = guess.open
    with kit.stage("loop"):
        guess.ask()
        _loop(state, bundled, ids, cacheable, shown=shown)
    kit.source(state)
    if len(ids) < len(prompt.ids):
        kit.inform(words.cut.format(n=len(ids)), ":material/content_cut:")
    if not shown:
        return
    if state["prompt"] == params.PROMPT:
        kit.looks(state, words.looks, f"{KEY}.looks")
        kit.real_look(state, words.real, f"{KEY}.real")
    kit.section(words.intro)
    kit.prose(total(len(ids), len(rounds), cacheable=cacheable))
    if cacheable:
        st.toggle(words.reuse, **state.bind("reuse"))
    else:
        kit.inform(words.no_cache, ":material/visibility:")
    kit.show_code(
        [write_slowly],
        words.snippet.format(
            name=bundled.name, ids=list(ids), rounds=ROUNDS, bundled=stop_of(bundled)
        ),
        f"{[turn.pick for turn in rounds]}\n"
        f"{[f'{float(turn.probabilities[0]):.3f}' for turn in rounds]}",
    )
    if cacheable:
        _costs(bundled)
    work = words.end_kept if cacheable else words.end_again
    numbers = work_of(len(ids), len(rounds))
    tokens, counted = kit.count(len(ids), "token"), kit.count(len(rounds), "round")
    kit.seen(words.end, tokens=tokens, rounds=counted, work=work.format(**numbers))


@kit.cached(32)
def rounds_of(bundled: engine.Bundled, ids: tuple[int, ...]) -> list[Round]:
    """Return how a model continues a text."""
    return write_slowly(bundled.model, ids, ROUNDS, stop_of(bundled))


def stop_of(bundled: engine.Bundled) -> int | None:
    """Return the token that ends a text."""
    return bundled.tokenizer.end


@kit.cached(32)
def pictured(bundled: engine.Bundled, ids: tuple[int, ...], cached: bool) -> list[LoopRound]:
    """Return the rounds as the picture takes them, with their sentences."""
    rounds = rounds_of(bundled, ids)
    work = work_lines(len(ids), len(rounds), cached=cached)
    text = list(ids)
    pictures = []
    for n, turn in enumerate(rounds):
        names = kit.names_of(turn.tokens, bundled.tokenizer)
        line = {
            "round": n + 1,
            "tokens": kit.count(len(text), "token"),
            "more": kit.count(len(text) + 1, "token"),
            "last": kit.names_of(text[-1:], bundled.tokenizer)[0],
            "layers": kit.count(bundled.model.config.n_layer, "layer"),
            "vocab": f"{bundled.model.vocab_size:,}",
            "listed": len(names),
            "pick": names[0],
            "share": kit.percent(float(turn.probabilities[0])),
            "norm": words.final_norm if final_norm(bundled) else "",
            "end": "",
        }
        text.append(turn.pick)
        templates = dict(words.lines)
        if n == len(rounds) - 1:
            templates["append"] = words.last
            line["end"] = ending(bundled, text)
        pictures.append(
            LoopRound(
                turn.row.numpy(),
                names,
                turn.scores.numpy(),
                turn.probabilities.numpy(),
                [templates[stage].format(**line) for stage in STAGES],
                work[n],
            )
        )
    return pictures


def ending(bundled: engine.Bundled, text: list[int]) -> str:
    """Return why no further round is shown behind a text."""
    if text[-1] == stop_of(bundled):
        return words.end_stop
    return words.end_full if len(text) > bundled.model.context_length else words.end_shown


def work_lines(tokens: int, rounds: int, *, cached: bool) -> list[str]:
    """Return a sentence for each round about the vectors that it computes."""
    sentences, so_far = [], 0
    for n, now in enumerate(vectors_computed(tokens, rounds, cached=cached)):
        so_far += now
        template = words.work_kept if cached else words.work_again
        line = {"round": n + 1, "now": kit.count(now, "vector"), "again": f"{now - 1:,}"}
        line["sum"] = f"{so_far:,}"
        sentences.append((template if n else words.work_first).format(**line))
    return sentences


def total(tokens: int, rounds: int, *, cacheable: bool) -> str:
    """Return the sentence about the vectors that all rounds compute."""
    sums = work_of(tokens, rounds)
    line = {"tokens": kit.count(tokens, "token"), "rounds": kit.count(rounds, "round"), **sums}
    return (words.sum if cacheable else words.sum_no_cache).format(**line)


def work_of(tokens: int, rounds: int) -> dict[str, int]:
    """Return how many vectors a layer computes in all rounds, with the cache and without it."""
    ways = {"cached": True, "plain": False}
    return {name: sum(vectors_computed(tokens, rounds, cached=way)) for name, way in ways.items()}


def final_norm(bundled: engine.Bundled) -> bool:
    """Whether a norm stands between the last layer and the head."""
    return bundled.model.config.norm == "pre"


def picture_words(*, normed: bool, cacheable: bool) -> dict[str, str]:
    """Return the picture's words for a model with or without a final norm and a cache."""
    texts = dict(words.picture)
    if normed:
        texts["row"] = words.row_normed
    if not cacheable:
        texts["again"] = words.again_changed
    return texts


def _loop(
    state: kit.PageState,
    bundled: engine.Bundled,
    ids: tuple[int, ...],
    cacheable: bool,
    *,
    shown: bool,
) -> None:
    cached = state["reuse"] and cacheable
    rounds = pictured(bundled, ids, cached)
    token_loop(
        kit.names_of(ids, bundled.tokenizer),
        rounds if shown else rounds[:1],
        key=f"{KEY}.rounds",
        layers=bundled.model.config.n_layer,
        cached=cached,
        words=picture_words(normed=final_norm(bundled), cacheable=cacheable),
        step=state["moment"],
        on_change=kit.bound(
            state, f"{KEY}.rounds", step=("moment", kit.one_of(range(ROUNDS * len(STAGES))))
        ),
    )


costs_of = kit.cached(32)(kit.on_model(cache_costs))


@kit.cached(32)
def cost_figures(bundled: engine.Bundled, mode: kit.Mode) -> tuple[kit.Figure, kit.Figure]:
    """Return milliseconds and memory over the length of the text."""
    costs = costs_of(bundled)
    times = {words.with_text: costs.with_cache, words.without: costs.without}
    memory = {words.held: [held / 1024 for held in costs.held]}
    return (
        against_size(costs.lengths, times, Axes(words.length, words.time), mode=mode),
        against_size(
            costs.lengths, memory, Axes(words.length, words.memory), log_y=True, mode=mode
        ),
    )


def _costs(bundled: engine.Bundled) -> None:
    kit.section(words.cost)
    config = bundled.model.config
    costs = costs_of(bundled)
    places = st.columns(2, gap="large")
    for place, figure, key in zip(
        places, cost_figures(bundled, kit.theme()), ("time", "memory"), strict=True
    ):
        place.plotly_chart(figure, key=f"{KEY}.{key}", theme=None)
    held = words.bytes.format(
        held=costs.held[-1],
        each=costs.held[0],
    )
    kit.prose(f"{time_line(costs)} {held}")
    kit.measured(
        words.measured,
        tries=TRIES,
        alone=words.alone if costs.alone else "",
        layers=kit.count(config.n_layer, "layer"),
        heads=kit.count(config.kv_heads, "head"),
        size=config.head_size,
        width=bundled.model.token.weight.element_size(),
    )


def time_line(costs: CacheCosts) -> str:
    """Return the sentence about the longest text that was measured."""
    without, with_cache = costs.without[-1], costs.with_cache[-1]
    ratio = without / with_cache
    line = words.less if ratio > NEAR else words.same if ratio > 1 / NEAR else words.more
    return line.format(n=costs.lengths[-1], without=without, with_=with_cache, ratio=ratio)
