"""Questions about stories: the answers are the grammar's, the loss is the answer's alone."""

import math
import re

import pytest
import torch
import torch.nn.functional as F

from llmviz.corpus import generate, parse
from llmviz.finetuning import instructions as i
from llmviz.finetuning.masked import masked_batch
from llmviz.nn.loss import IGNORED
from llmviz.training import TrainConfig, train

STORIES = [document.text for document in generate(300, seed=5)]
OWN_QUESTIONS = {  # how the stories themselves ask, and which of ours that is
    "who": re.compile(r"But who had the (\w+) now\? It was (\w+)\."),
    "colour": re.compile(r"What colour was the (\w+)\? It was (\w+)\."),
    "size": re.compile(r"How big was the (\w+)\? It was (\w+)\."),
}


@pytest.mark.parametrize("kind", OWN_QUESTIONS)
def test_answers_are_those_that_the_stories_give_themselves(kind):
    checked = 0
    for story in STORIES:
        for match in OWN_QUESTIONS[kind].finditer(story):
            told = story[: match.start()].strip()  # who had it then, not at the end
            answers = {one.question: one.answer for one in i.ask(told) if one.kind == kind}
            (question,) = [one for one in answers if f" {match[1]}?" in one]
            assert answers[question] == match[2]
            checked += 1
    assert checked > 10


def test_people_and_places_are_those_of_the_grammar():
    for story in STORIES[:100]:
        answers = {one.kind: one.answer for one in i.ask(story)}
        surnames = {fact.right for fact in parse(story).facts if fact.kind == "names"}
        people = list(i._people(story))
        assert surnames <= {full.split()[1] for full in people}
        assert answers["hero"] == min(people, key=story.index)
        assert answers["people"] == ("three" if "With them came " in story else "two")
        assert f" the {answers['place'].removeprefix('At the ')}." in story


def test_kinds_come_in_turn_from_a_seed():
    some = i.instructions(12, seed=1)
    assert [one.kind for one in some] == [*i.KINDS] * 2
    assert i.instructions(12, seed=1) == some != i.instructions(12, seed=2)
    assert {one.kind for one in i.instructions(3, kinds=("who",))} == {"who"}
    for wrong in (dict(count=1, kinds=("x",)), dict(count=-1), dict(count=1, kinds=())):
        with pytest.raises(ValueError):
            i.instructions(**wrong)


def test_the_loss_is_the_cross_entropy_of_the_answer_alone(model, tokenizer):
    some = i.instructions(3)
    rows = [i.tokens_of(tokenizer, one) for one in some]
    inputs, targets = masked_batch(rows, 0)
    loss = model(inputs, targets)[1].item()
    total = count = 0
    end = tokenizer.special_tokens["<|endoftext|>"]
    for one in some:  # each by itself: the answer's tokens after the prompt's
        prompt = [end, *tokenizer.encode(one.prompt)]
        answer = [*tokenizer.encode(one.reply), end]
        logits = model(torch.tensor([prompt + answer]))[0][0]
        for k, token in enumerate(answer):
            total += F.cross_entropy(logits[len(prompt) - 1 + k], torch.tensor(token)).item()
            count += 1
    assert loss == pytest.approx(total / count, rel=1e-5)
    assert int((targets != IGNORED).sum()) == count


def test_data_of_a_step_depends_on_the_seed_and_step_alone(model, tokenizer):
    some = i.instructions(40)
    data = i.prepare_instructions(tokenizer, 320, some[:30], some[30:], mix=0.5, seed=3)
    again = i.prepare_instructions(tokenizer, 320, some[:30], some[30:], mix=0.5, seed=3)
    for step in (7, 2, 7):
        assert all(
            torch.equal(a, b)
            for a, b in zip(data.batch(step, 4), again.batch(step, 4), strict=True)
        )
    shares = [float((data.batch(step, 4)[1] != IGNORED).double().mean()) for step in range(1, 60)]
    plain = sum(share > 0.5 for share in shares)
    assert 15 < plain < 45  # half of 59, give or take
    held_out = list(data.validation_batches(4, 0))
    assert sum(len(batch[0]) for batch in held_out) == 10 and data.count(held_out[0]) > 0
    config = TrainConfig(steps=3, batch_size=4, warmup_steps=0, device="cpu", threads=1)
    assert math.isfinite(list(train(model, data, config))[-1].validation_loss)


@pytest.mark.parametrize(
    ("change", "message"),
    [(dict(mix=1), "mix must be"), (dict(context_length=20), "fits into a context of 20")],
)
def test_data_that_cannot_be_made_is_refused(tokenizer, change, message):
    some = i.instructions(4)
    values = {"context_length": 320, "mix": 0.0} | change
    with pytest.raises(ValueError, match=message):
        i.prepare_instructions(tokenizer, values["context_length"], some, some, values["mix"])


def test_a_question_that_just_fits_is_kept(tokenizer):
    some = i.instructions(8)
    sizes = [len(i.tokens_of(tokenizer, one)) for one in some]
    for longest in sorted(sizes):
        data = i.prepare_instructions(tokenizer, longest - 1, some, some)
        assert len(data.rows) == len(data.held_out) == sum(size <= longest for size in sizes)


def test_as_many_batches_are_held_out_as_are_asked_for(tokenizer):
    some = i.instructions(11)
    data = i.prepare_instructions(tokenizer, 320, some, some)
    for count, sizes in ((1, [4]), (2, [4, 4]), (3, [4, 4, 3]), (9, [4, 4, 3]), (0, [4, 4, 3])):
        assert [len(inputs) for inputs, _ in data.validation_batches(4, count)] == sizes


class Parrot(torch.nn.Module):
    """Writes what it was told to after each prompt."""

    context_length = 320

    def __init__(self, tokenizer, asked, texts):
        super().__init__()
        self.end, self.size = tokenizer.special_tokens["<|endoftext|>"], tokenizer.vocab_size
        prompts = [[self.end, *tokenizer.encode(one.prompt)] for one in asked]
        written = [[*tokenizer.encode(text), self.end] for text in texts]
        self.known = list(zip(prompts, written, strict=True))

    def forward(self, idx):
        logits = torch.zeros(*idx.shape, self.size)
        for row, ids in enumerate(idx.tolist()):
            prompt, text = next(pair for pair in self.known if ids[: len(pair[0])] == pair[0])
            for at, token in enumerate(text, len(prompt) - 1):
                if at < idx.shape[1]:
                    logits[row, at, token] = 1
        return logits, None


def test_replies_are_read_up_to_the_end_and_compared_to_the_letter(tokenizer):
    some = [one for one in i.instructions(30) if one.kind in ("colour", "size")][:4]
    known = [one.reply for one in some]
    texts = [known[0], known[1] + " It", known[2], " lamp."]
    found = i.replies(Parrot(tokenizer, some, texts), tokenizer, some)
    assert [one.right for one in found] == [True, False, True, False]
    assert found[0].text == known[0].strip()


class Counting(torch.nn.Module):
    """Says the last token that it sees once more, and keeps what it was given."""

    def __init__(self, context_length, size):
        super().__init__()
        self.context_length, self.size, self.given = context_length, size, []

    def forward(self, idx):
        self.given.append(idx.tolist())
        return torch.nn.functional.one_hot(idx, self.size).float(), None


@pytest.mark.parametrize("tokens", [1, 3])
def test_a_long_prompt_loses_its_beginning_and_so_many_tokens_are_written(tokenizer, tokens):
    (one,) = i.instructions(1)
    prompt = tokenizer.encode(one.prompt)
    model = Counting(12, tokenizer.vocab_size)
    (reply,) = i.replies(model, tokenizer, [one], tokens)
    rows = [row for (row,) in model.given]
    assert rows[0] == prompt[-(12 - tokens) :] and max(map(len, rows)) < 12
    assert len(rows) == tokens
    assert reply.text == tokenizer.decode([prompt[-1]] * tokens)
