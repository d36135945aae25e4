"""The chat model: its tokens, its mask, its prompts in every template, and the bundled results."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import llmviz
from experiments import chat as make_chat
from llmviz.course.lessons.reasoning.conversation import chat_model as model
from llmviz.course.lessons.reasoning.conversation import chat_prompts as prompts
from llmviz.course.lessons.reasoning.conversation import chat_record as record
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.finetuning.conversations import (
    ACTS,
    ASSISTANT,
    LINES,
    Message,
    conversations,
)
from llmviz.nn.loss import IGNORED
from llmviz.publishing.folder import export_folder
from llmviz.serving.chat_template import TURN_END, TURN_TOKENS, TURNS, Conversation
from llmviz.training.reading import CHAT

NEEDS_RECORD = pytest.mark.skipif(
    not (EXPERIMENT_FOLDER / record.FILE).is_file(), reason=f"`{model.COMMAND}` was not run yet"
)
TALKS = conversations(12, seed=5)
OWN = model.tokenizer()
SPECIAL = set(OWN.special_tokens.values())
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
ROLES = st.sampled_from(["system", "user", "assistant"])
MESSAGES = st.lists(st.builds(Message, ROLES, TEXTS), min_size=1, max_size=5)


@pytest.mark.parametrize("talk", TALKS)
def test_the_loss_counts_what_the_assistant_says_and_its_ends(talk):
    tokens = make_chat.scored_tokens(talk)
    said = OWN.decode([one.id for one in tokens if one.counts])
    replies = [one.content for one in talk if one.role == ASSISTANT]
    assert said == "".join(f" {reply}{TURN_END}" for reply in replies)
    every = make_chat.scored_tokens(talk, model.ALL)
    assert [one.id for one in every] == [one.id for one in tokens]
    assert [one.counts for one in every] == [False] + [True] * (len(every) - 1)


@given(MESSAGES)
@settings(deadline=None, max_examples=60)
def test_the_server_reads_a_conversation_as_the_model_does_or_refuses_its_tokens(messages):
    server = Conversation(OWN, TURNS)
    plain = [one.plain for one in messages]
    if any(special in one.content for one in messages for special in OWN.special_tokens):
        with pytest.raises(ValueError, match="a token of the template"):
            server.ids(plain)
    else:
        assert server.ids(plain) == prompts.prompt_of(messages)


@given(MESSAGES, st.sampled_from([*TURN_TOKENS, "<|endoftext|>"]))
@settings(deadline=None, max_examples=60)
def test_what_a_user_types_is_never_a_special_token_unless_it_is_parsed(messages, typed):
    plain = prompts.prompt_of(messages)
    last = Message(messages[-1].role, f"{messages[-1].content}{typed}")
    with_it = [*messages[:-1], last]
    count = sum(token in SPECIAL for token in plain)
    assert sum(one in SPECIAL for one in prompts.prompt_of(with_it)) == count
    parsed = prompts.prompt_of(with_it, prompts.AS_TOKENS)
    own = sum(special in one.content for one in messages for special in OWN.special_tokens)
    if not own:
        assert sum(one in SPECIAL for one in parsed) == count + 1


def test_each_wrong_template_differs_as_it_is_called():
    messages = [
        Message("user", "The cat sat."),
        Message("assistant", "Yes."),
        Message("user", "No"),
    ]
    end = OWN.special_tokens[TURN_END]
    right = prompts.prompt_of(messages)
    assert [one for one in right if one != end] == list(
        prompts.prompt_of(messages, prompts.NO_ENDS)
    )
    exchanged = {3073: 3074, 3074: 3073}
    swapped = [exchanged.get(one, one) for one in right[:-1]] + [right[-1]]
    assert swapped == list(prompts.prompt_of(messages, prompts.SWAPPED))
    lines = prompts.prompt_of(messages, prompts.LINES_ONLY)
    assert OWN.decode(lines[1:]) == "User: The cat sat.\nAssistant: Yes.\nUser: No\nAssistant:"
    assert SPECIAL & set(lines) == {OWN.end}


def test_a_template_that_changes_a_message_is_refused():
    for source in (
        "{{ messages[0].content | upper }}",
        "no message",
        "{{ messages[0].content }}" * 2,
    ):
        with pytest.raises(ValueError, match="each message once"):
            Conversation(OWN, source).pieces([{"role": "user", "content": "a"}])


def test_packed_weights_are_near_and_rounding_twice_changes_nothing():
    fresh = model.new_model()
    before = {name: one.clone() for name, one in fresh.state_dict().items()}
    once = {name: one.clone() for name, one in make_chat.rounded(fresh).state_dict().items()}
    for name, tensor in before.items():
        step = tensor.abs().amax(-1, keepdim=True) / 127
        room = step / 2 if tensor.dim() > 1 else tensor.abs() * 2**-10 + 1e-7
        assert ((once[name] - tensor).abs() <= room * 1.001).all(), name
    twice = make_chat.rounded(fresh).state_dict()
    assert all(torch.allclose(twice[name], one, rtol=1e-6) for name, one in once.items())
    assert sum(one.nbytes for one in make_chat.packed(fresh).values()) < 3e6


@pytest.mark.slow
def test_training_lowers_the_loss_of_the_replies(monkeypatch):
    fresh = make_chat.losses(model.new_model().eval(), TALKS[:4])
    learned = make_chat.losses(make_chat.train(model.REPLIES, 0, steps=12, batch=4), TALKS[:4])
    assert learned[0] < fresh[0] - 1


def test_cases_ask_each_reply_and_the_changed_line_asks_for_the_other_form():
    replies = [one for talk in TALKS for one in talk if one.role == ASSISTANT]
    own = make_chat.cases(TALKS, prompts.OWN, 256)
    assert [case.reply for case in own] == replies
    changed = make_chat.cases(TALKS, record.CHANGED, 256)
    assert [case.reply.content for case in changed] == [one.other for one in replies]
    for case in changed:
        text = OWN.decode(case.prompt)
        last = max(LINES.values(), key=lambda line: text.rfind(line))
        short = last == LINES["short"]
        assert (len(case.reply.content) < len(case.reply.other)) == short
    new = make_chat.cases(TALKS, record.NEVER, 256)
    assert len(new) == len(TALKS)
    assert {case.reply.act for case in new} == {"declines"}
    assert make_chat.cases(TALKS, prompts.OWN, 60) == []


@NEEDS_RECORD
def test_the_record_counts_what_it_says():
    for way, models in record.recorded().items():
        assert [one.seed for one in models] == list(model.SEEDS)
        for one in models:
            assert tuple(one.settings) == make_chat.SETTINGS[way]
            for measured in one.settings.values():
                rows = sum(sum(row.values()) for row in measured.acts.values())
                assert rows == measured.right.of == measured.other.of == measured.ended.of
                assert sum(one.hits for one in measured.turns.values()) == measured.right.hits
                assert measured.right.hits + measured.other.hits <= rows
                both = [measured.did(act, wanted=True).hits for act in ACTS]
                wrong = [measured.did(act, wanted=False).hits for act in ACTS]
                assert sum(both) + sum(wrong) == rows


@NEEDS_RECORD
def test_the_bundled_model_replies_as_the_record_says():
    asked = make_chat.cases(make_chat.held_out(10), prompts.OWN, 256)
    first = record.recorded()[model.REPLIES][0].settings[prompts.OWN].right.value
    right = make_chat.measure(model.bundled(), asked).right
    error = np.sqrt(first * (1 - first) / right.of) + 1 / right.of
    assert abs(right.value - first) < 4 * error


@NEEDS_RECORD
@pytest.mark.parametrize("talk", TALKS[:4])
def test_a_reply_is_what_the_engine_writes_and_its_probabilities_are_the_models(talk):
    at = next(at for at, one in enumerate(talk) if one.role == ASSISTANT)
    given = talk[:at]
    written = record.reply(given)
    ((text, ended),) = make_chat.written(model.bundled(), [prompts.prompt_of(given)])
    assert (written.text, written.ended) == (text, ended)
    ids = [*prompts.prompt_of(given), *(token for token, _, _ in written.tokens)]
    with torch.no_grad():
        chances = model.bundled()(torch.tensor([ids[:-1]]))[0][0].softmax(-1)
    behind = len(ids) - len(written.tokens)
    expected = [float(chances[place - 1, ids[place]]) for place in range(behind, len(ids))]
    assert [chance for _, _, chance in written.tokens] == pytest.approx(expected, rel=1e-3)


@NEEDS_RECORD
def test_a_reply_needs_a_name_before_it_but_any_will_do():
    def hits(shape):
        asked = make_chat.cases(make_chat.held_out(8), shape, 256)
        return make_chat.measure(model.bundled(), asked).right.hits

    assert hits(prompts.ALL_USER) >= hits(prompts.OWN) - 2
    assert hits(prompts.NO_ROLES) < hits(prompts.OWN) / 2


@given(MESSAGES)
@settings(deadline=None, max_examples=40)
def test_the_tokens_of_a_conversation_are_its_prompt_and_belong_to_its_turns(messages):
    tokens = record.tokens_of(messages)
    assert tuple(one.id for one in tokens) == prompts.prompt_of(messages)
    assert [one.special for one in tokens] == [one.id in SPECIAL for one in tokens]
    assert {one.message for one in tokens} == set(range(-1, len(messages) + 1))
    for at, message in enumerate(messages):
        mine = [one for one in tokens if one.message == at]
        counted = [one.counts for one in mine]
        assert counted == [False] + [message.role == ASSISTANT] * (len(mine) - 1)
    assert IGNORED == -1


@NEEDS_RECORD
def test_a_conversation_beyond_the_context_is_refused_and_the_last_place_is_used():
    context = model.bundled().context_length
    full = next(
        length
        for length in range(context, 0, -1)
        if len(prompts.prompt_of([Message("user", "cat " * length)])) <= context
    )
    one = [Message("user", "cat " * full)]
    written = record.reply(one)
    assert len(written.tokens) <= context + 1 - len(prompts.prompt_of(one))
    with pytest.raises(ValueError, match="256 at most"):
        record.reply([Message("user", "cat " * (full + 5))])


@NEEDS_RECORD
def test_the_published_model_is_served_with_the_same_template(tmp_path):
    export_folder(make_chat.published(), tmp_path / "chat")
    served = llmviz.load(tmp_path / "chat")
    chat = served.description[CHAT]
    assert chat["template"] == TURNS
    server = Conversation(served.tokenizer, chat["template"], chat["tokens"])
    for talk in TALKS[:4]:
        plain = [one.plain for one in talk]
        assert server.ids(plain) == prompts.prompt_of(talk)
    assert served.tokenizer.ends == OWN.ends
    ids = torch.tensor([prompts.prompt_of(TALKS[0][:2])])
    with torch.no_grad():
        own, theirs = model.bundled()(ids)[0], served.module(ids)[0]
    assert torch.allclose(own, theirs, atol=1e-4)
