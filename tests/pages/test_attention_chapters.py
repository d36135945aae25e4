"""What the chapters on attention add to each other: translators, heads in two steps, X, links."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.attention import LESSON
from llmviz.course.lessons.attention.matrices import build
from llmviz.course.lessons.attention.steps import chapter as steps
from llmviz.course.lessons.attention.steps import words
from llmviz.course.lessons.attention.steps.scale_model import scale_row
from llmviz.course.lessons.attention.why import translators
from llmviz.course.lessons.attention.why.model import LETTERS, letter_influence
from llmviz.course.ui import engine
from llmviz.interpretability.heads_on_text import effect_of_heads, last_logits
from llmviz.nn.attention import split_heads
from llmviz.pretrained import load_bundled
from llmviz.training.plan import documents_of, plan_of
from llmviz.training.run_folder import load_trained
from llmviz.training.translation import evaluate_pairs
from tests.pages.harness import fine, fine_page, fine_part, prose_of, sent, snippets

FOLDER = Path(__file__).parents[2] / "llmviz" / "course" / "lessons" / "attention"


def test_the_cards_counts_by_length_are_those_of_a_fresh_count():
    for name in (translators.ONE_VECTOR, translators.LOOKS_BACK):
        engine_folder = Path(engine.CHECKPOINTS) / name
        trained = load_trained(engine_folder)
        _, held_out = documents_of(plan_of(trained.description, name))
        part = [pair for pair in held_out[:1000] if len(pair[0].split()) >= 9]
        score = evaluate_pairs(trained.model, trained.tokenizer, part)
        counts = translators.by_length(json.loads((engine_folder / "card.json").read_text()))
        assert {n: two for n, two in counts.items() if n >= 9} == score.by_length
        assert sum(all_ for all_, _ in counts.values()) == 1000


def test_what_is_told_of_short_and_long_sentences_follows_from_the_counts():
    counts = [{4: (10, 9), 5: (10, 8), 8: (20, 3)}, {4: (10, 10), 5: (10, 10), 8: (20, 19)}]
    line = translators.report(counts)
    assert "Up to 6 words" in line
    assert re.findall(r"[\d.]+%", line) == ["85.0%", "15.0%", "100%", "95.0%"]
    only = translators.report([{4: (2, 1)}, {4: (2, 2)}])  # one length: both parts are it
    assert re.findall(r"[\d.]+%", only) == ["50.0%", "50.0%", "100%"]


def test_all_words_that_came_out_wrong_are_told_or_said_to_be_some_of_them():
    told = {line: unmarked(translators.caption(line, "a b c", 0)) for line in ("x b c", "x y c")}
    assert told["x b c"].count("has become") == 1 and told["x y c"].count("has become") == 2
    assert all("such as" not in text for text in told.values())
    assert "such as" in translators.caption("x y z", "a b c", 0)
    assert "such as" in translators.caption("x b", "a b c", 0)  # one is missing


def test_both_translators_write_what_the_page_says():
    app = fine_part("attention", "why", sentence="the old fox sleeps")
    for name in (translators.ONE_VECTOR, translators.LOOKS_BACK):
        model, tokenizer, _ = load_bundled(name)
        (ids,) = model.translate(torch.tensor([tokenizer.encode("the old fox sleeps")]))
        lines = [row["texts"] for row in sent(app, "token_strip")["rows"]]
        assert tokenizer.decode(ids).split() in lines
    wrong = fine_part("attention", "why", sentence="the unicorn sleeps")
    assert any("does not know the sentence" in box.value for box in wrong.error)


def test_before_the_guess_no_share_of_a_head_is_told(covers):
    app = fine_part("attention", "cross")
    assert [row["value"] is None for row in sent(app, "case_rows")["rows"]] == [False, True, True]
    assert not sent(app, "head_view")["notes"]


def test_an_old_link_to_the_translation_opens_its_chapter():
    app = fine_part("attention", "trained", look="cross", pair="3")
    assert app.query_params["part"] in ("cross", ["cross"])
    assert "One of these heads, number by number" in " ".join(one.value for one in app.header)


def test_step_by_step_begins_with_dot_products_and_why_has_no_head_map():
    app = fine_page("attention")
    next(button for button in app.button if "Step by step" in button.label).click().run()
    fine(app)
    assert words.variant_texts["simple"][2:20] in prose_of(app)
    old = fine_part("attention", "steps")  # a link from before dot products came first
    fine(old)
    assert words.variant_texts["causal"][2:20] in prose_of(old)
    why = fine_part("attention", "why")
    kinds = [part.proto.component_name for part in why.get("bidi_component")]
    assert "llmviz_head_view" not in kinds


@pytest.mark.parametrize(("t", "c", "n"), [(3, 4, 2), (1, 4, 1), (5, 6, 3), (2, 8, 8)])
def test_the_two_steps_to_heads_move_no_number(t, c, n):
    q = torch.randn(t, c)
    tokens = [f"t{i}" for i in range(t)]
    cut = build.cut_tokens(q, tokens, n, range(t))
    stacked = np.stack([matrix.values for matrix in cut.matrices])  # (T, H, D)
    np.testing.assert_array_equal(stacked, q.view(t, n, c // n))
    np.testing.assert_array_equal(stacked.swapaxes(0, 1), split_heads(q, n))
    whole, *heads = build.reshape(q, tokens, n).matrices
    np.testing.assert_array_equal(np.stack([head.values for head in heads]), split_heads(q, n))
    assert {matrix.limit for matrix in (*cut.matrices, whole, *heads)} == {whole.limit}


def test_x_of_the_three_words_is_token_plus_position():
    token, position, x = steps.matrices()
    np.testing.assert_allclose(token.values + position.values, x.values, atol=1e-12)
    assert x.op.kind == "add"


def test_who_looks_only_at_the_start_is_not_said_to_look_at_itself():
    weights = np.zeros((1, 4, 4))
    weights[0, :, 0] = 1
    assert steps._only_itself(weights) == words.only_itself_or_first
    assert "99.9%" in steps._only_itself(np.eye(4)[None])


def test_the_effect_of_a_head_is_that_of_switching_it_off_alone():
    model, tokenizer, _ = load_bundled("names-gpt")
    ids = [tokenizer.special_tokens["<|endoftext|>"], *tokenizer.encode("anna")]
    effects = effect_of_heads(model, ids)
    full = torch.tensor(last_logits(model, ids)).double().softmax(-1)
    for place in np.ndindex(effects.shape):
        off = torch.tensor(last_logits(model, ids, {place})).double().softmax(-1)
        assert effects[place] == pytest.approx(float((full - off).abs().sum() / 2), abs=1e-5)


def test_the_influence_of_a_letter_is_the_mean_over_the_25_others():
    model, tokenizer, _ = load_bundled("names-rnn")
    shares = letter_influence(model, tokenizer, "eva", "layers.0.hidden", last=True)
    end = tokenizer.special_tokens["<|endoftext|>"]

    def state(name):
        with torch.inference_mode():
            rows = model.token(torch.tensor([[end, *tokenizer.encode(name)]]))
            return model.layers[0](rows)[0, -1]

    own = state("eva")
    others = [state("e" + letter + "a") for letter in LETTERS if letter != "v"]
    mean = np.mean([float((one - own).norm() / own.norm()) for one in others])
    assert shares[1] == pytest.approx(mean, abs=1e-5)


def test_the_drawn_row_is_a_row_of_the_scale_study():
    for row in scale_row(64, 16, 64, seed=3):
        assert row.shape == (16,) and row.sum() == pytest.approx(1)
    divided, plain = scale_row(64, 16, 64, seed=3)
    ratio = np.log(plain / plain.max()) / np.log(divided / divided.max()).clip(None, -1e-12)
    assert np.nanmedian(ratio) == pytest.approx(8)  # logs of the weights differ by √64


def test_the_box_for_the_text_stands_above_the_chapters_that_read_it():
    for chapter in LESSON.chapters:
        shown = [
            fine_part("attention", chapter.key, source="model", text=text)
            for text in ("a cat", "the dogs")
        ]
        assert snippets(shown[0]), chapter.key
        boxes = [[box.label for box in app.text_area] for app in shown]
        differ = prose_of(shown[0]) != prose_of(shown[1]) or sent_all(shown[0]) != sent_all(
            shown[1]
        )
        assert ("Your text" in boxes[0]) == differ, chapter.key


def sent_all(app) -> list[bytes]:
    """What all components of a page were sent."""
    return [part.proto.SerializeToString() for part in app.get("bidi_component")]
