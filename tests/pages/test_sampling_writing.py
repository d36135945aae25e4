"""The lesson on sampling: texts that grow, their ways, and settings side by side."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from llmviz.course.lessons.sampling import source, texts
from llmviz.course.lessons.sampling.growing_text import Fork
from llmviz.course.lessons.sampling.writing import chapter as writing
from llmviz.course.ui.kit import whole_percent
from llmviz.sampling import generate, sampling_steps, text_measures
from tests.pages import harness
from tests.pages.small_model import ids_of, logits_of

PROMPT = "Mila found a ball"


def said_by(bundle, text: str) -> source.Prompted:
    return source.Prompted(bundle, text, tuple(ids_of(bundle, text)), logits_of(bundle, text))


def test_written_text_is_what_generate_gives(bundle):
    link = {"prompt": PROMPT, "written": "20", "seed": "4", "temperature": "0.8"}
    app = harness.open_part("sampling", "writing", **link)
    harness.fine(app)
    text = harness.unpack_all(app, "writer")[0]
    how = {"temperature": 0.8, "generator": torch.Generator().manual_seed(4)}
    how |= {"strip": "probability", "use_cache": False}
    expected = list(generate(bundle.model, ids_of(bundle, PROMPT), 20, **how))
    assert text["length"] == 20
    assert text["ids"][:20].tolist() == [token.id for token in expected]
    assert np.allclose(text["p"][:20], [token.probability for token in expected], atol=1e-5)
    assert text["rank"][:20].tolist() == [token.rank for token in expected]
    told = f"{whole_percent(text_measures(expected)['distinct'])} are new in it"
    assert told in harness.prose_of(app)


def test_a_text_grows_in_slices_and_is_then_the_same(bundle, monkeypatch):
    """A token at a time with no time for more; its numbers are said when it is whole."""
    link = {"prompt": PROMPT, "seed": "5", "written": "12", "length": "12"}
    whole = harness.unpack_all(harness.open_part("sampling", "writing", **link), "writer")
    texts._text.clear()
    monkeypatch.setattr(writing, "SLICE", 1e-9)
    monkeypatch.setattr(writing, "LANE_SLICE", 1e-9)
    app = harness.open_part("sampling", "writing", **link)
    harness.fine(app)
    assert harness.unpack_all(app, "writer")[0]["length"] == 1  # a slice before each picture
    assert any("being written" in one.value for one in app.caption)
    for _ in range(30):
        app.run()
        harness.fine(app)
    assert [one["length"] for one in harness.unpack_all(app, "writer")] == [12] * len(whole)
    for one, other in zip(harness.unpack_all(app, "writer"), whole, strict=True):
        assert one["ids"][:12].tolist() == other["ids"][:12].tolist()


def test_beyond_the_context_texts_end_where_their_windows_have_taken_about_a_second(
    bundle, monkeypatch
):
    """Each token there reads a whole window: so many of them for one text, a third for each of
    three; the chapters say so, and a version that begins behind them is lost."""
    context = bundle.model.context_length
    window = context * sum(one.numel() for one in bundle.model.parameters())
    monkeypatch.setattr(texts, "READ_AGAIN", 30 * window)
    short, long = said_by(bundle, PROMPT), said_by(bundle, PROMPT * 40)
    assert len(short.ids) < context < len(long.ids)
    room = min(200, context - len(short.ids) + 30)
    assert [texts.most(short), texts.most(long), texts.most(long, 3)] == [room, 30, 10]
    monkeypatch.setattr(texts, "READ_AGAIN", 0)  # a model that is too large for even one window
    assert texts.most(long) == texts.AT_LEAST
    monkeypatch.setattr(texts, "READ_AGAIN", 30 * window)
    with pytest.raises(ValueError, match="may have 30 tokens"):
        texts.text(long, {}, 3, 40, [Fork(0, 30, 1, 40)], 1)

    link = {"prompt": PROMPT * 40, "length": "60", "written": "60", "temperature": "1.5"}
    app = harness.open_part("sampling", "writing", **link)
    harness.fine(app)
    text, *lanes = harness.unpack_all(app, "writer")
    assert text["length"] <= 30 == text["limit"]
    assert len(lanes) == 3 and all(one["length"] <= 10 == one["limit"] for one in lanes)
    assert any("at most 10 tokens here" in one.value for one in app.caption)
    app = harness.open_part("sampling", "writing", **(link | {"prompt": PROMPT, "length": "5"}))
    assert not any("tokens here" in one.value for one in app.caption)


def test_ways_branch_where_they_say_and_keep_the_seed(bundle):
    said = said_by(bundle, PROMPT)
    settings = {"temperature": 1.0, "strip": "probability"}
    trunk = texts.text(said, settings, 3, 12)
    other = trunk.tokens[5].alternatives[2]
    forks = [Fork(0, 5, other[0], 10)]
    way = texts.text(said, settings, 3, 12, forks, 1)
    before = [token.id for token in trunk.tokens[:5]]
    assert [token.id for token in way.tokens[:6]] == [*before, other[0]]
    assert way.forced == [5] and way.tokens[5].probability == other[1]
    assert [t.u for t in way.tokens[6:12]] == [t.u for t in trunk.tokens[6:12]]
    # The rest is what the model writes behind that beginning with the same numbers.
    prefix = ids_of(bundle, PROMPT) + before + [other[0]]
    with torch.inference_mode():
        row = bundle.model(torch.tensor([prefix]))[0][0, -1].double().numpy()
    steps = sampling_steps(row, strip="probability")
    assert way.tokens[6].id == steps.draw(way.tokens[6].u)
    with pytest.raises(ValueError, match="among the alternatives"):
        texts.text(said, settings, 3, 12, [Fork(0, 5, -1, 10)], 1)


def test_a_text_that_cannot_go_on_says_so_each_time(bundle):
    said = said_by(bundle, PROMPT)
    greedy = {"repetition_penalty": 10.0, "top_k": 1}
    plain = texts.text(said, greedy, 0, 6)
    third = plain.tokens[2].id
    assert third not in [token.id for token in plain.tokens[:2]]
    order = ("repetition_penalty", "temperature", "top_k", "top_p", "min_p", "banned")
    settings = greedy | {"banned": (third,), "order": order}
    for _ in range(2):
        with pytest.raises(ValueError, match="no token is left to draw"):
            texts.text(said, settings, 0, 6)
    known = texts.text(said, settings, 0, 2)
    assert len(known.tokens) == 2 and not known.ended


def test_threads_that_let_one_text_grow_get_what_one_alone_gets(bundle):
    said = said_by(bundle, PROMPT)
    with ThreadPoolExecutor(8) as pool:
        grown = list(pool.map(lambda n: texts.text(said, {}, 77, n), range(20, 60)))
    how = {"generator": torch.Generator().manual_seed(77), "stop_id": said.stop_id}
    alone = generate(bundle.model, said.ids, len(grown[-1].tokens), **how)
    assert [token.id for token in grown[-1].tokens] == [token.id for token in alone]
    assert all(one is grown[0] for one in grown)


def test_link_restores_a_tree_and_says_where_it_does_not_fit(bundle):
    app = harness.open_part("sampling", "writing", prompt=PROMPT, written="12")
    first = harness.unpack_all(app, "writer")[0]
    token = next(i for i, _, _ in first["alternatives"][4] if i != first["ids"][4])
    link = {"prompt": PROMPT, "written": "12", "ways": f"0.4.{token}.9", "way": "1"}
    app = harness.open_part("sampling", "writing", **link)
    harness.fine(app)
    shown = harness.unpack_all(app, "writer")[0]
    assert shown["length"] == 9 and shown["ids"][4] == token and shown["chosen"][4] == 1
    assert shown["ids"][:4].tolist() == first["ids"][:4].tolist()
    for lost in ({"ways": "0.4.999999.9"}, {"ways": "0.4.999999.9", "way": "0"}):
        app = harness.open_part("sampling", "writing", **link | lost)
        harness.fine(app)
        assert "do not fit" in harness.boxes(app)
        assert harness.unpack_all(app, "writer")[0]["way"] == 0


def test_ways_are_written_and_read_alike():
    param = texts.forks_param("ways")
    forks = [Fork(0, 3, 17, 20), Fork(1, 5, 2, 9)]
    assert param.read(param.write(forks)) == forks
    assert param.read("") == []
    for wrong in ("1.2.3", "a.b.c.d", "0.999.1.1", "2.1.1.1", ",".join(["0.1.1.1"] * 17)):
        with pytest.raises(ValueError):
            param.read(wrong)


def test_settings_side_by_side_share_their_random_numbers(bundle):
    link = {"prompt": PROMPT, "length": "10", "seed": "2"}
    app = harness.open_part("sampling", "compare", **link)  # its old name
    harness.fine(app)
    _, *parts = harness.unpack_all(app, "writer")  # the text, and three beside each other
    assert len(parts) == 3
    shortest = min(len(part["u"]) for part in parts)
    assert all(np.array_equal(part["u"][:shortest], parts[0]["u"][:shortest]) for part in parts)


def test_repeats_are_said_in_words_of_their_own_where_there_are_none_or_hardly_any():
    said = [writing.repeated(share) for share in (0.0, 0.004, 0.28, 1.0)]
    assert len(set(said)) == 4 and all("0\u00a0%" not in line for line in said[:2])
    assert whole_percent(0.28) in said[2]
