"""The head that an answer depends on: found again by a pass of its own for each head."""

from __future__ import annotations

import pytest
import torch

from experiments.answering_heads import answering_head, spelled_cases, worded_cases
from llmviz.course.lessons.errors.causes.answering_heads import SPELLED, WORDED, recorded
from llmviz.course.lessons.errors.moved_answers import MODEL
from llmviz.pretrained import load_bundled
from llmviz.trace import record, replaced


@pytest.fixture(scope="module")
def story_model():
    return load_bundled(MODEL)[:2]


def test_the_head_is_the_one_whose_output_from_the_other_pass_brings_most_back():
    model, tokenizer, _ = load_bundled("drafts/tiny-world")
    prompts = [
        tokenizer.encode_from_start(text)
        for text in ("Anna met Hugo. It was", "Anna met Hugo at noon. Now it was")
    ]
    answers = [tokenizer.encode(f" {name}")[0] for name in ("Anna", "Hugo")]
    found = answering_head(model, tokenizer, tuple(prompts), answers)
    size, each = model.config.head_size, {}
    for layer in range(model.config.n_layer):
        name = f"blocks.{layer}.attn.concat"
        with torch.inference_mode(), record([name]) as trace:
            model(torch.tensor([prompts[0]]))
        given = trace[name][0, -1]
        for head in range(model.config.n_head):
            part = slice(head * size, (head + 1) * size)

            def put(x, part=part, given=given):
                x = x.clone()
                x[:, -1, part] = given[part]
                return x

            with torch.inference_mode(), replaced({name: put}):
                logits = model(torch.tensor([prompts[1]]))[0][0, -1]
            each[layer, head] = float(logits[answers].double().softmax(-1)[0])
    assert (found.layer, found.head) == max(each, key=each.__getitem__)
    assert found.moved == pytest.approx(max(each.values()), abs=1e-4)
    for ids, look in zip(prompts, found.looks, strict=True):
        weights = f"blocks.{found.layer}.attn.weights"
        with torch.inference_mode(), record([weights]) as trace:
            model(torch.tensor([ids]))
        row = trace[weights][0, found.head, -1]
        assert look.weight == pytest.approx(float(row.max()), abs=1e-4)
        assert look.token == tokenizer.decode([ids[int(row.argmax())]]).strip()


def test_recorded_cases_come_again(story_model):
    every = recorded()
    for cases in (spelled_cases(*story_model), worded_cases(*story_model, count=12)):
        for _ in range(2):
            case = next(cases)
            (known,) = (
                one
                for one in every
                if (one.kind, one.way, one.about, one.right, one.endings)
                == (case.kind, case.way, case.about, case.right, case.endings)
            )
            assert (known.layer, known.head, known.said) == (case.layer, case.head, case.said)
            for name in ("confidence", "plain", "here", "moved"):
                assert getattr(known, name) == pytest.approx(getattr(case, name), abs=2e-3)


def test_each_case_is_right_as_stories_ask_and_wrong_here():
    for one in recorded():
        assert one.said != one.right and one.here <= one.confidence < 1.001
        assert one.plain > one.here and one.plain > 0.33
        if one.kind == SPELLED:
            whole, tokens = one.tokens
            assert "".join(whole).strip() == "".join(tokens).strip() == one.about
            assert whole != tokens and one.endings[0] == one.endings[1]
        else:
            assert one.kind == WORDED and one.endings[0] != one.endings[1]
