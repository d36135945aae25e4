"""The home page without a browser: what is sent to the picture is what the model computed."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace
from urllib.parse import parse_qsl

import numpy as np
import pytest
import torch

from llmviz.course.components.machine.view import NextToken
from llmviz.course.lessons import home
from llmviz.course.lessons.home import below, ending, picture, words
from llmviz.course.lessons.home import next_token as writing
from llmviz.course.lessons.home.machine import ROWS, TAPS, read
from llmviz.course.lessons.home.sentence import LOOKED_AT, machine_rows, sentence
from llmviz.course.ui import engine
from llmviz.course.ui.furniture import words as furniture
from llmviz.models.settings import NORMS, POSITIONS
from llmviz.tokenizers import ENDOFTEXT, UNKNOWN, CharTokenizer, get_tokenizer
from llmviz.trace import record
from tests.pages import harness
from tests.pages.conftest import forget, load_torch, use
from tests.pages.harness import ROOT, fine, fine_page, open_page
from tests.pages.small_model import CONTEXT, HEADS, LAYERS, make_checkpoint, make_real

BPE = get_tokenizer("bpe")
drawn = functools.partial(harness.sent, name="machine")


def ids_of(text: str) -> list[int]:
    return [BPE.special_tokens[ENDOFTEXT], *BPE.encode(text)]


@pytest.mark.parametrize("text", ["The cat sat", "The cat sat on the mat. " * 3, ""])
def test_what_is_drawn_is_what_the_model_computed(bundle, text):
    app = fine_page("home", text=text) if text else fine_page("home")
    if not text:
        app.text_area[0].set_value("").run()
    fine(app)
    sent = drawn(app)
    ids = ids_of(text)
    with torch.inference_mode(), record(TAPS) as trace:
        logits = bundle.model(torch.tensor([ids]))[0][0]
    first = max(0, len(ids) - ROWS)
    assert [row["id"] for row in sent["rows"]] == ids[first:]
    assert [row["position"] for row in sent["rows"]] == list(range(first, len(ids)))
    values = sent["values"]
    stream = [trace["embed"], *(trace[f"blocks.{i}.residual"] for i in range(LAYERS))]
    for layer, x in enumerate(stream):
        assert np.array_equal(values["vectors"][layer], x[0, first:].numpy())
    for i in range(LAYERS):
        weights = trace[f"blocks.{i}.attn.weights"][0, :, first:].numpy()  # (H, R, T)
        assert np.array_equal(values["weights"][i], weights[:, :, first:])
        whole = values["weights"][i].sum(-1) + values["earlier"][i]
        assert np.allclose(whole, 1, atol=1e-5)
        for name, tap in (("queries", "q"), ("keys", "k"), ("values", "v")):
            long = trace[f"blocks.{i}.attn.{tap}"][0, :, first:].norm(dim=-1)
            assert np.allclose(values[name][i], long, rtol=1e-5)
        added = trace[f"blocks.{i}.attn"] + trace[f"blocks.{i}.mlp"]
        before, after = stream[i], stream[i + 1]
        assert torch.allclose(before + added, after, atol=1e-4)
        assert np.allclose(
            values["mlp"][i], trace[f"blocks.{i}.mlp"][0, first:].norm(dim=-1), rtol=1e-5
        )
    shares = logits.double().softmax(-1)[first:]
    best = values["top_ids"].astype(np.int64)
    assert np.allclose(values["top_probabilities"], shares.gather(1, torch.tensor(best)), atol=1e-6)
    assert np.array_equal(values["top_logits"], np.take_along_axis(logits[first:].numpy(), best, 1))
    assert (np.diff(values["top_logits"]) <= 0).all()
    assert np.allclose(values["rest"] + values["top_probabilities"].sum(1), 1, atol=1e-6)
    assert sent["next"]["id"] == int(logits[-1].argmax())
    assert sent["vocab"] == BPE.vocab_size


def test_the_context_slides_and_the_page_says_so(bundle):
    app = fine_page("home", text="one " * 100)
    sent = drawn(app)
    window = ids_of("one " * 100)[-CONTEXT:]
    assert [row["id"] for row in sent["rows"]] == window[-ROWS:]
    assert any("context" in box.value for box in app.info)
    weights = read(bundle.model, window).weights
    assert np.array_equal(sent["values"]["weights"], weights)


def test_a_text_beyond_the_limit_is_read_at_its_end_only():
    text = "x" * LOOKED_AT + "The end."
    window = sentence(text, BPE, 8)
    assert window.text == text[-LOOKED_AT:]
    assert list(window.ids) == ids_of(window.text)[-8:]


def test_a_lone_surrogate_gets_one_clear_line(bundle):
    with pytest.raises(ValueError, match="surrogate"):
        sentence("a\ud800", BPE, None)


def test_unknown_characters_are_said_where_the_tokenizer_has_no_bytes(monkeypatch, tmp_path):
    make_checkpoint(tmp_path, "tiny-world-char", CharTokenizer.train("abc def."))
    use(monkeypatch, tmp_path)
    load_torch()
    app = fine_page("home", text="abcXY", model="tiny-world-char")
    assert any("2 of the 5" in box.value for box in app.info)


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "rotary", "none"])
def test_the_picture_says_how_the_model_is_told_positions(monkeypatch, tmp_path, positions):
    make_checkpoint(tmp_path, positions=positions)
    use(monkeypatch, tmp_path)
    load_torch()
    app = fine_page("home", text="one two three")
    window = drawn(app)["words"]["say"]["vectors"]
    assert furniture.positions[positions] in window and "{placed}" not in window
    model = engine.load("tiny-world-gpt").model
    with torch.inference_mode(), record() as trace:
        model(torch.tensor([ids_of("one two three")]))
    added = not torch.equal(trace["embed"], trace["embed.token"])
    assert added == ("is added" in window and "Nothing" not in window)


def test_tokens_and_ids_stand_before_the_model_has_come(bundle, monkeypatch):
    started = []
    monkeypatch.setattr(engine, "ready", lambda: False)
    monkeypatch.setattr(engine, "start", lambda: started.append(1))
    app = fine_page("home")
    sent = drawn(app)
    assert sent["values"] is None and sent["next"] is None
    assert [row["id"] for row in sent["rows"]] == ids_of(home.TEXT)[-ROWS:]
    assert len(app.title) == 1 and app.text_area[0].value == home.TEXT
    app.run()
    assert started, "the second look begins loading"


def test_no_model_no_numbers(monkeypatch, tmp_path):
    use(monkeypatch, tmp_path)
    app = fine_page("home")
    assert drawn(app)["values"] is None
    assert [row["id"] for row in drawn(app)["rows"]] == ids_of(home.TEXT)[-ROWS:]
    assert any("No trained model" in box.value for box in app.info)
    assert any(block.value == words.no_model_command for block in app.code)
    app.session_state[picture.WRITING] = picture.Job(10, home.TEXT)
    app.run()
    fine(app)
    assert not app.text_area[0].disabled  # a model that cannot write locks no box


def test_a_damaged_model_is_one_line(folder, monkeypatch, tmp_path):
    target = make_checkpoint(tmp_path)
    (target / "model.safetensors").write_bytes(b"no weights")
    use(monkeypatch, tmp_path)
    load_torch()
    app = fine_page("home")
    assert any("safetensors" in box.value for box in app.error)
    (target / "card.json").write_text("{", "utf-8")
    app = fine_page("home")
    assert any("the card of" in box.value for box in app.error)


def test_the_first_paint_imports_nothing_heavy():
    code = (
        "import sys\n"
        "from streamlit.testing.v1 import AppTest\n"
        "app = AppTest.from_file('app.py', default_timeout=60).run()\n"
        "assert not app.exception, app.exception\n"
        "assert app.get('bidi_component')\n"
        "heavy = {'torch', 'pandas', 'plotly.express', 'sklearn'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, timeout=120)


def test_a_link_restores_every_control(bundle):
    heads = [2, 1]
    app = fine_page(
        "home",
        text="The cat sat on the mat.",
        layer="1",
        heads="2,1",
        row="3",
        step="4",
        temperature="0.7",
        seed="9",
    )
    assert drawn(app)["view"] == {"layer": 1, "heads": heads, "row": 3, "step": 4}
    assert app.slider[0].value == 0.7 and app.number_input[0].value == 9


@pytest.mark.parametrize(
    "link", [{"layer": "7"}, {"heads": "0"}, {"heads": "0,9"}, {"row": "900"}, {"model": "none"}]
)
def test_a_link_that_does_not_fit_falls_back_and_says_so(bundle, link):
    app = fine_page("home", **link)
    assert any("does not exist here" in box.value for box in app.warning)
    assert drawn(app)["values"] is not None


def test_greedy_takes_the_highest_score_and_ties_go_to_the_lowest_id():
    choice = writing.choose(np.array([0.0, 2.0, 2.0]), 0.0, 1, 5)
    assert (choice.id, choice.rank) == (1, 1)


def test_drawing_follows_the_probabilities_and_its_seed():
    logits = np.log([0.7, 0.2, 0.1])
    drawn_ids = [writing.choose(logits, 1.0, 3, at).id for at in range(4000)]
    shares = np.bincount(drawn_ids, minlength=3) / 4000
    assert np.abs(shares - [0.7, 0.2, 0.1]).max() < 4 * np.sqrt(0.25 / 4000)
    assert drawn_ids == [writing.choose(logits, 1.0, 3, at).id for at in range(4000)]
    assert drawn_ids != [writing.choose(logits, 1.0, 4, at).id for at in range(4000)]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_ten_written_are_ten_times_one(bundle, monkeypatch, temperature):
    monkeypatch.setattr(picture, "PACE", 0.0)
    text = "The cat"
    for _ in range(10):
        step = writing.write_one(bundle.model, bundle.tokenizer, text, temperature, 1)
        text = step.text
        if step.ended:
            break
    app = fine_page("home", text="The cat", temperature=str(temperature))
    app.session_state[picture.WRITING] = picture.Job(10, "The cat", locked=True)
    for _ in range(12):
        app.run()
    fine(app)
    assert picture.WRITING not in app.session_state
    assert app.text_area[0].value == text


def test_what_the_learner_types_stays_where_the_model_writes(bundle, monkeypatch):
    monkeypatch.setattr(picture, "PACE", 1e6)  # a token, and no second one
    app = fine_page("home", text="The cat")
    app.session_state[picture.WRITING] = picture.Job(10, "The cat")
    for _ in range(3):  # the first token comes only after the browser has locked the box
        app.run()
        assert app.text_area[0].disabled and app.text_area[0].value == "The cat"
    app.session_state[picture.WRITING].locked = True
    app.run()
    assert app.text_area[0].disabled and app.text_area[0].value != "The cat"
    # What the learner puts there by another way, an example or another page, ends the writing.
    harness.put(app, shared__text="My own")
    assert picture.WRITING not in app.session_state
    assert not app.text_area[0].disabled and app.text_area[0].value == "My own"


def test_what_is_drawn_in_amber_is_what_is_written(bundle):
    app = fine_page("home", text="The cat sat", temperature="1.5", seed="4")
    following = drawn(app)["next"]["id"]
    written = writing.write_one(bundle.model, bundle.tokenizer, "The cat sat", 1.5, 4)
    assert written.ids[0] == following or written.ended


class Says:
    """A model that scores the token highest which a rule names after the last one."""

    context_length = 8

    def __init__(self, rule):
        self.rule = rule

    def __call__(self, window, last_only):
        logits = torch.zeros(1, 1, BPE.vocab_size)
        logits[0, 0, self.rule(int(window[0, -1]))] = 5.0
        return logits, None


BYTES = [BPE.token_bytes(i) for i in range(256)]
FIRST, SECOND = BYTES.index(b"\xc3"), BYTES.index(b"\xa9")  # of é


def test_a_character_in_two_tokens_is_written_whole_and_half_a_one_not_at_all():
    halves = Says(lambda last: SECOND if last == FIRST else FIRST)
    written = writing.write_one(halves, BPE, "caf", 0.0, 1)
    assert written.text == "café" and len(written.ids) == 2 and not written.ended
    written = writing.write_one(Says(lambda last: FIRST), BPE, "caf", 0.0, 1)
    assert written == writing.Written("caf", (), ended=True, broken=True)


def test_the_end_of_the_text_is_not_written():
    ends = Says(lambda last: BPE.special_tokens[ENDOFTEXT])
    written = writing.write_one(ends, BPE, "It was", 0.0, 1)
    assert written == writing.Written("It was", (), ended=True)


def test_the_first_view_shows_the_most_decided_heads():
    weights = np.zeros((2, 2, 5, 5), np.float32)
    weights[..., 0] = 1  # all look at the first token: no decision
    weights[1, 1, 2:, 0], weights[1, 1, 2:, 1] = 0.2, 0.8
    weights[0, 1, 2:, 0], weights[0, 1, 2:, 1] = 0.5, 0.5
    assert picture.decided_heads(weights) == (1, [1, 1])
    assert picture.decided_heads(weights[:, :, :1, :1]) == (0, [0, 0])


def test_the_questions_are_true(bundle):
    text = "The cat sat on the mat."
    window = sentence(text, BPE, CONTEXT)
    reading = read(bundle.model, window.ids)
    screen = below.OnScreen(bundle, window, reading, 1, 2)
    first = below.sum_question(screen)
    assert first.answers[first.right].startswith("1") and "= 1.000" in first.reasons[0]
    other = below.expected_instead(screen)
    assert other != window.ids[-1]
    changed = read(bundle.model, (*window.ids[:-1], other))
    difference = np.abs(changed.vectors - reading.vectors).max(axis=(0, 2))
    assert difference[:-1].max() < 1e-5 < difference[-1]
    question = below.change_question(screen, other, changed)
    assert question.answers[question.right] == "Only in the last one"


@pytest.mark.parametrize("text", ["", "a", "the", "aaaa", "so " * 40])
def test_one_answer_is_right_however_short_the_text(bundle, text):
    window = sentence(text, BPE, CONTEXT)
    reading = read(bundle.model, window.ids)
    screen = below.OnScreen(bundle, window, reading, 0, 0)
    first = below.sum_question(screen)
    assert (first is None) == (len(window.ids) < 2)
    if first is not None:
        assert first.right == 0 and "= 1.000" in first.reasons[0]
        # The other two are false: the sum is 1 and not the number of tokens, for any text.
        assert len(window.ids) != 1 and np.allclose(
            reading.weights.sum(-1) + reading.earlier, 1, atol=1e-5
        )


@pytest.mark.parametrize("mistake", [{"mask": "none"}, {"mask": "off_by_one"}])
def test_a_model_with_a_wrong_mask_is_asked_nothing(monkeypatch, tmp_path, mistake):
    make_checkpoint(tmp_path, **mistake)
    use(monkeypatch, tmp_path)
    load_torch()
    app = fine_page("home", text="one two three four")
    assert not app.radio


def test_cards_only_for_lessons_that_exist(bundle):
    existing = {path.stem for path in (ROOT / "pages").glob("*.py")}
    keys = {lesson.key for lesson in below.lessons()}
    assert keys | {"home", "before_after", "glossary", "models"} == existing
    assert all(lesson.card for lesson in below.lessons()), "a lesson without a card"


def test_a_stage_of_the_picture_leads_to_its_chapter_with_the_sentence_the_model_and_the_layer(
    bundle,
):
    links = drawn(fine_page("home", text="The cat and Anna"))["links"]
    layers = [f"layer {layer}" for layer in range(LAYERS)]
    assert set(links) == {"tokens", "vectors", "scores", "next", *layers}
    for stage, link in links.items():
        page, _, query = link.partition("?")
        said = dict(parse_qsl(query))
        app = fine_page(page, **said)
        assert not app.warning
        assert "The cat and Anna" in [box.value for box in (*app.text_area, *app.text_input)]
        assert said.get("model") == (None if page == "tokenization" else picture.models()[0])
        if stage in layers:
            assert f"layer {app.number_input(key='_transformer.layer@transformer').value}" == stage


def test_the_view_that_a_browser_sends_is_checked(bundle):
    from llmviz.course.components.machine.view import View, _view

    app = fine_page("home")
    sent = drawn(app)
    good = {"layer": 1, "heads": [0, HEADS - 1], "row": 2, "step": -1}
    assert _view(good, sent) == View(1, (0, HEADS - 1), 2, -1)
    for wrong in (
        {"layer": LAYERS},
        {"heads": [0]},
        {"heads": [0, HEADS]},
        {"heads": ["0", 0]},
        {"row": 99},
        {"step": 99},
        {"layer": "1"},
    ):
        assert _view(good | wrong, sent) is None
    assert _view(None, sent) is None


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("following", words.following)
@pytest.mark.parametrize("starts", [False, True])
def test_the_picture_says_what_this_model_does(positions, norm, following, starts):
    say = picture.picture_words(positions, norm, following, starts=starts)["say"]
    assert not re.search(r"\{(placed|last|following|counted)\}", " ".join(say.values()))
    assert ("normalised once more" in say["scores"]) == (norm == "pre")
    assert ("ends the text" in say["next"]) == (following == "end")
    assert ("start token" in say["tokens"]) == starts
    added = "is added" in say["vectors"] and "Nothing is added" not in say["vectors"]
    assert added == (positions in ("learned", "sinusoidal"))


def screen_of(row: np.ndarray, window: int | None = None) -> below.OnScreen:
    """A screen whose last row has these weights (T,), of a model with a window or without."""
    weights = np.zeros((1, 1, row.size, row.size))
    weights[0, 0, -1] = row
    reading = SimpleNamespace(weights=weights, earlier=np.zeros((1, 1, row.size)))
    tokenizer = CharTokenizer.train("ab")
    bundled = SimpleNamespace(
        tokenizer=tokenizer, model=SimpleNamespace(config=SimpleNamespace(window=window))
    )
    text = SimpleNamespace(ids=tuple(tokenizer.encode("ab" * row.size)[: row.size]))
    return below.OnScreen(bundled, text, reading, 0, 0)


@pytest.mark.parametrize("case", range(60))
def test_the_sum_adds_up_as_it_is_shown_or_says_that_it_is_rounded(case):
    chance = np.random.default_rng(case)
    row = chance.dirichlet(np.ones(int(chance.integers(2, 12))) * chance.choice([0.1, 1, 50]))
    if case % 5 == 0:
        row[:] = 1 / row.size
    asked = below.sum_question(screen_of(row))
    shown = asked.reasons[0].partition("Here: ")[2]
    parts, _, total = shown.partition(" = ")
    added = sum(map(float, re.findall(r"\d\.\d+", parts)))
    assert total.startswith("1.000")
    assert (words.rounded in shown) == (f"{added:.3f}" != "1.000")
    assert f"looks back at {row.size} tokens" in asked.text


def test_a_window_leaves_fewer_tokens_to_see():
    row = np.array([0.0, 0.0, 0.25, 0.25, 0.5])
    assert "looks back at 3 tokens" in below.sum_question(screen_of(row, window=3)).text
    assert below.sum_question(screen_of(np.array([0.0, 1.0]), window=1)) is None


def test_an_unknown_character_is_not_called_the_start_of_the_text():
    tokenizer = CharTokenizer.train("the cat")
    unknown = tokenizer.special_tokens[UNKNOWN]
    rows = machine_rows(sentence("the 한 cat", tokenizer, None), tokenizer)
    assert unknown in [row.id for row in rows]
    assert [row.id for row in rows if row.special] == [tokenizer.special_tokens[ENDOFTEXT]]


@pytest.mark.parametrize("front", [None, [], [UNKNOWN], [UNKNOWN, ENDOFTEXT]])
@pytest.mark.parametrize("text", ["", "the cat"])
@pytest.mark.parametrize("context", [None, 2, 5])
def test_a_start_token_is_counted_only_where_the_model_reads_one(front, text, context):
    """Published tokenizers put another token in front, or several, or none; a window slides on."""
    tokenizer = CharTokenizer.train("the cat")
    tokenizer.front = (
        None if front is None else tuple(tokenizer.special_tokens[one] for one in front)
    )
    read = sentence(text, tokenizer, context)
    assert read.starts == (len(tokenizer.start) == 1 and read.ids[:1] == tokenizer.start)


def test_a_token_that_only_marks_something_does_not_end_the_text():
    tokenizer = CharTokenizer.train("the cat")

    def kind(token: int) -> str:
        ends = token in tokenizer.special_tokens.values()
        return picture.kind_of(NextToken("", token, 1.0, 1, ends=ends), tokenizer)

    assert kind(0) == "text"
    assert kind(tokenizer.special_tokens[ENDOFTEXT]) == "end"
    assert kind(tokenizer.special_tokens[UNKNOWN]) == "mark"


@pytest.fixture
def real(folder, monkeypatch, tmp_path):
    """What stands for the real model is here, beside the small one."""
    make_real(tmp_path / "models", layers=4)
    monkeypatch.setenv("LLMVIZ_MODELS", str(tmp_path / "models"))
    use(monkeypatch, folder)
    load_torch()
    yield engine.load("smollm2")
    forget()


def box(app) -> str:
    return app.text_area[0].value


def test_a_real_model_opens_the_page_with_a_sentence_of_its_own(real):
    app = fine_page("home")
    assert box(app) == home.REAL_TEXT and len(drawn(app)["values"]["weights"]) == 4
    assert app.query_params == {}  # so the link means the same wherever the real model is
    toy = fine_page("home", model="tiny-world-gpt")
    assert box(toy) == home.TEXT and len(drawn(toy)["values"]["weights"]) == LAYERS
    other = fine_page("home", model="tiny-world-gpt", text=home.REAL_TEXT)
    assert box(other) == home.REAL_TEXT
    typed = fine_page("home", text="My own sentence")
    assert box(typed) == "My own sentence"
    assert [row["text"] for row in drawn(typed)["rows"]][-1] == drawn(typed)["rows"][-1]["text"]


def test_without_the_real_model_it_is_offered_to_who_may_fetch_it(bundle, monkeypatch):
    assert box(fine_page("home")) == home.TEXT
    monkeypatch.setenv("LLMVIZ_IMPORT", "anyone")
    assert any("93 MB" in button.label for button in fine_page("home").button)
    monkeypatch.setenv("LLMVIZ_IMPORT", "nobody")
    app = fine_page("home")
    assert not any("93 MB" in button.label for button in app.button)
    assert any("python -m llmviz get smollm2" in caption.value for caption in app.caption)


def logits_of(losses: list[float], ids: list[int], size: int) -> np.ndarray:
    """Logits under which the token behind each of a text's tokens has these losses."""
    probabilities = np.zeros((len(ids), size))
    probabilities[-1] = 1 / size
    for row, (loss, token) in enumerate(zip(losses, ids[1:], strict=True)):
        probabilities[row] = (1 - np.exp(-loss)) / (size - 1)
        probabilities[row, token] = np.exp(-loss)
    return np.log(probabilities).astype(np.float32)


@pytest.mark.parametrize("size", [2, 50, 5000])
@pytest.mark.parametrize(
    ("share", "count", "foreign"),
    [(0.5, 6, False), (0.99, 6, False), (1.01, 6, True), (1.5, 1, True), (0.1, 1, False)],
)
def test_a_text_is_foreign_where_a_blind_guess_does_better(size, share, count, foreign):
    ids = [0, *np.random.default_rng(0).integers(0, size, count)]
    logits = logits_of([share * np.log(size)] * count, ids, size) + 7.5  # a constant says nothing
    assert picture.is_foreign(SimpleNamespace(first=0, logits=logits), ids) == foreign
    cut = SimpleNamespace(first=count, logits=logits[count:])
    assert not picture.is_foreign(cut, ids)  # one token alone tells nothing


def test_stories_of_its_world_are_not_foreign_to_the_bundled_model_and_other_texts_are():
    load_torch()
    bundled = engine.load("tiny-world-gpt")

    def foreign(text: str) -> bool:
        window = sentence(text, bundled.tokenizer, bundled.model.context_length)
        return picture.is_foreign(read(bundled.model, window.ids), window.ids)

    assert not any(foreign(text) for text in (home.TEXT, *words.openings.values()))
    stories = (ROOT / "data" / "tiny-world.txt").read_text("utf-8").split("\n\n")
    assert not any(foreign(" ".join(s.split()[:n])) for s in stories[:30] for n in (3, 9, 40))
    assert all(map(foreign, (home.REAL_TEXT, "My name is Peter and I", "Why is the sky blue?")))
    assert not foreign("")


def test_a_real_model_that_is_deleted_while_the_app_runs_gives_way_to_the_toy_world(real, tmp_path):
    app = fine_page("home")
    assert box(app) == home.REAL_TEXT
    shutil.rmtree(tmp_path / "models")
    app.run()
    fine(app)
    app = fine_page("home")
    assert box(app) == home.TEXT and len(drawn(app)["values"]["weights"]) == LAYERS
    app = open_page("home", model="smollm2")
    fine(app)
    assert any("smollm2 does not exist here" in line.value for line in (*app.warning, *app.info))


def test_a_text_longer_than_the_context_of_a_real_model_is_read_at_its_end(real):
    app = fine_page("home", text="The cat sat on the mat. " * 60)
    shown = drawn(app)["rows"]
    assert len(shown) == ROWS and shown[-1]["position"] == real.model.context_length - 1
    assert any("context holds" in line.value for line in app.info)


GUESSED = {
    "tokenization/cut": ("How many?", "three", "four", False),
    "sampling/temperature": ("How likely?", "", "12 %", None),
}


def test_the_address_of_the_end_of_the_hour_holds_what_was_guessed(ready):
    app = fine_page("home", end="1", guessed=ending.write(GUESSED))
    sent = [tuple(line[1:]) for line in harness.sent(app, "keepsake")["lines"]]
    assert sent == list(GUESSED.values())
    (written,) = np.atleast_1d(app.query_params["guessed"])
    assert ending.read(written) == GUESSED


@pytest.mark.parametrize(
    "written", ["x", "[1]", '{"tokenization/cut":3}', '{"tokenization/cut":[["a"],"b","c",true]}']
)
def test_what_no_page_wrote_into_the_address_is_passed_over(ready, written):
    app = fine_page("home", end="1", guessed=written)
    assert not harness.sent(app, "keepsake")["lines"]
