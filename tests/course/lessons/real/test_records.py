"""What is recorded of the real model: whole, of the pinned file, and the same when asked again."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import torch

from llmviz.course.lessons.real import record
from llmviz.course.lessons.real.chat import Turn, sent
from llmviz.course.lessons.real.measures import MEASURES, finished, name_of
from llmviz.course.lessons.real.reader import unpacked
from llmviz.course.lessons.real.record import MODEL, recorded
from llmviz.files.paths import EXPERIMENT_FOLDER

FEW = ("carrier", "copies", "first", "heart", "people", "sums", "travels")  # made again in seconds


@pytest.mark.parametrize("name", MEASURES)
def test_a_record_has_all_that_is_given_and_is_of_the_pinned_file(name):
    made = recorded(name, MEASURES[name].kind)
    assert list(made) == [name_of(given) for given in MEASURES[name].given]
    raw = json.loads((EXPERIMENT_FOLDER / record.FOLDER / f"{name}.json").read_text("utf-8"))
    assert (raw["sha256"], raw["maker"], raw["licence"]) == (
        MODEL.sha256,
        MODEL.maker,
        MODEL.licence,
    )


def test_the_records_are_small():
    sizes = [path.stat().st_size for path in (EXPERIMENT_FOLDER / record.FOLDER).iterdir()]
    assert sum(sizes) < 400_000


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "is not in this copy"),
        ("{}", "is damaged"),
        (json.dumps({"sha256": "0" * 64, "made": {}}), "is damaged.*checksum"),
        (json.dumps({"sha256": MODEL.sha256, "made": {"a": [1]}}), "is damaged"),
    ],
)
def test_a_record_that_cannot_be_used_names_its_command(content, reason, tmp_path, monkeypatch):
    monkeypatch.setattr(record, "EXPERIMENT_FOLDER", tmp_path)
    recorded.cache_clear()
    (tmp_path / record.FOLDER).mkdir()
    if content is not None:
        (tmp_path / record.FOLDER / "travels.json").write_text(content, "utf-8")
    with pytest.raises(ValueError, match=f"{reason}.*{record.COMMAND}"):
        recorded("travels", MEASURES["travels"].kind)
    recorded.cache_clear()


def _numbers(value):
    """All numbers and texts of a result, in their order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [part for each in value for part in _numbers(each)]
    if isinstance(value, str) and re.fullmatch(r"\d+( \d+)+", value):
        return unpacked(value).tolist()
    return [value]


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    from llmviz.obtainable.catalogue import OBTAINABLE
    from llmviz.obtainable.fetch import fetch
    from llmviz.pretrained import obtained

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LLMVIZ_MODELS", str(tmp_path_factory.mktemp("models")))
        try:
            list(fetch(OBTAINABLE[MODEL.name]))
        except ValueError as error:
            pytest.skip(f"the real model cannot be fetched here: {error}")
        yield obtained(MODEL.name)


@pytest.mark.slow
@pytest.mark.parametrize("name", FEW)
def test_the_model_does_what_was_recorded(reader, name):
    measure = MEASURES[name]
    for given in measure.given[:2]:
        again = _numbers(finished(measure.compute(reader, *given)))
        before = _numbers(recorded(name, measure.kind)[name_of(given)])
        assert len(again) == len(before)
        for now, then in zip(again, before, strict=True):
            if isinstance(then, float):
                assert now == pytest.approx(then, rel=2e-2, abs=2e-3)
            else:
                assert now == then


@pytest.mark.slow
def test_a_chat_is_what_the_models_own_template_writes(reader):
    from llmviz.serving.template import ChatTemplate

    chat = reader.description["chat"]
    template = ChatTemplate(chat["template"], chat["tokens"])
    system = Turn("system", "Be brief.")
    for turns in (
        [Turn("user", "Hi!")],
        [system, Turn("user", "Hi!"), Turn("assistant", "Yes?"), Turn("user", "é🙂")],
    ):
        text = template.render([{"role": role, "content": said} for role, said in turns])
        ids = reader.tokenizer.encode(text, allowed_special="all")
        assert [token.id for token in sent(reader, turns)] == ids


def test_what_a_head_carries_agrees_with_switching_it_off_by_itself():
    """The grid begins each layer from a stored stream; the oracle runs the whole model anew."""
    from llmviz.course.lessons.real.carrier.model import grow
    from llmviz.course.lessons.real.reader import ids_of
    from llmviz.interpretability.heads_on_text import last_logits
    from tests.course.lessons.real.tiny import tiny

    reader = tiny()
    ids = ids_of(reader, "One winter morning")
    answer = int(last_logits(reader.model, ids).argmax())
    for layer, shares in grow(reader, "One winter morning"):
        for head, share in enumerate(shares):
            logits = torch.from_numpy(last_logits(reader.model, ids, [(layer, head)]))
            assert share == pytest.approx(float(logits.softmax(-1)[answer]), rel=1e-4)


def test_a_window_of_the_whole_text_loses_nothing():
    from llmviz.course.lessons.real.reader import ids_of, token_losses
    from llmviz.evaluation.longer_texts import losses_within
    from tests.course.lessons.real.tiny import tiny

    reader = tiny()
    ids = ids_of(reader, "One winter morning the king woke up.")
    model, row, whole = reader.model, torch.tensor([ids]), token_losses(reader, ids)
    for keeps in (True, False):
        every = losses_within(model, row, len(ids), keeps_first=keeps)
        assert np.allclose(every[0], whole, atol=1e-4)
    narrow = losses_within(model, row, 2, keeps_first=False)[0]
    assert narrow[0] == pytest.approx(whole[0], abs=1e-4)
    assert not np.allclose(narrow, whole, atol=1e-3)


def test_a_grid_of_bits_holds_its_ends_and_is_the_files_own():
    from llmviz.course.lessons.real.bits.model import GROUP, GROUPED, ROW, on_grid

    w = torch.randn(6, 64, generator=torch.Generator().manual_seed(0))
    for per in (ROW, GROUP):
        for bits in (2, 4, 8):
            rounded = on_grid(w, bits, per)
            parts, exact = (x if per == ROW else x.reshape(-1, GROUPED) for x in (rounded, w))
            assert torch.allclose(parts.amax(1), exact.amax(1), atol=1e-5)
            assert torch.allclose(parts.amin(1), exact.amin(1), atol=1e-5)
            assert max(len(row.unique()) for row in parts.round(decimals=5)) <= 2**bits
            assert torch.allclose(on_grid(rounded, bits, per), rounded, atol=1e-5)
            step = (exact.amax(1) - exact.amin(1)) / (2**bits - 1)
            assert ((parts - exact).abs() <= step[:, None] / 2 + 1e-5).all()
