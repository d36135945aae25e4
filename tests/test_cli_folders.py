"""`train` and its folder: what a refused run leaves, and what may be said when one goes on."""

import dataclasses
import io
import json
import re
import shutil
import signal
import sys

import pytest
import torch
from safetensors.torch import load_file

from llmviz import cli
from llmviz.cli import train
from llmviz.training import TrainConfig, load_checkpoint, read_metrics, recipes
from llmviz.training.run_folder import load_trained
from tests.read_only import read_only
from tests.test_cli import FAST, SMALL, call, refused


@pytest.fixture
def line(text, tmp_path):
    """A command that trains in a moment, and its folder."""
    out = tmp_path / "run"
    given = ["train", "--corpus", str(text), "--out", str(out), "--steps", "4", *FAST, *SMALL]
    return given, out


@pytest.mark.parametrize(
    "mistake",
    [
        ["--device", "cuda"],
        ["--set", "vocab_size=3"],
        ["--set", "context_length=8"],
        ["--set", "shift=no"],
        ["--corpus", "/nowhere"],
        ["--seed", "99999999999999999999"],
    ],
)
def test_a_run_that_is_refused_leaves_nothing(capsys, line, mistake, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    given, out = line
    refused(capsys, *given, *mistake)
    assert not out.exists()
    out.mkdir()  # a folder that was there stays, empty
    refused(capsys, *given, *mistake)
    assert not list(out.iterdir())
    if mistake[0] == "--set":  # and takes the right command
        assert call(capsys, *given)[0] == 0


def test_into_a_folder_that_is_read_only_nothing_is_written_and_it_is_said(capsys, line, tmp_path):
    given, out = line
    folder = tmp_path / "runs"
    folder.mkdir()
    given[given.index(str(out))] = str(folder / "run")
    assert call(capsys, *given)[0] == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    new = str(folder / "new")
    with read_only(folder):
        for words in (
            [*given, "--resume", "--steps", "6"],
            [*given, "--out", new],
            ["quantize", str(folder / "run"), "--documents", "0", "--out", new],
            ["export", str(folder / "run"), "--to", "hf", "--out", new],
            ["worksheet", "before_after", new],
            ["site", new, "--only", "glossary"],
        ):
            code, out, err = call(capsys, *words)
            assert code == 2 and out == "" and str(folder) in err.splitlines()[-1]
        assert (
            call(capsys, "generate", "--checkpoint", str(folder / "run"), "--tokens", "2")[0] == 0
        )
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_line_that_began_a_run_goes_on_with_it(capsys, line):
    given, out = line
    again = [*given, "--resume", "--set", "dropout=0.1", "--windows", "auto"]
    out.mkdir()  # what a run leaves that was killed at once
    code, _, err = call(capsys, *again)
    assert code == 0 and "the run begins at its first step" in err
    assert load_checkpoint(out).step == 4
    assert "already" in call(capsys, *again)[1]
    assert call(capsys, *again, "--steps", "6")[0] == 0
    assert load_checkpoint(out).step == 6


def test_a_warm_up_longer_than_the_run_is_said(capsys, line):
    given, _ = line
    assert "is longer than the run (4)" in call(capsys, *given, "--warmup-steps", "400")[2]


def test_behind_a_pipe_a_line_is_printed_at_each_validation(capsys, line, monkeypatch):
    given, out = line
    written = []
    lines = train.write

    def noted(text, end="\n"):
        written.append((text, len(read_metrics(out))))
        lines(text, end)

    monkeypatch.setattr(train, "write", noted)
    assert call(capsys, *given, "--eval-every", "2")[0] == 0
    assert [step for _, step in written] == [2, 4]  # as it goes, not at the end
    losses = [record.validation_loss for record in read_metrics(out)]
    assert losses[0] is None and losses[2] is None
    assert written[0][0].startswith("step 2: ") and f"{losses[1]:.4f} nats" in written[0][0]
    assert written[1][0].startswith("step 4: ") and f"{losses[3]:.4f} nats" in written[1][0]


def test_a_terminal_shows_the_bar_and_one_line_at_the_end(capsys, line, monkeypatch):
    given, _ = line
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    code, out, err = call(capsys, *given, "--eval-every", "2")
    assert code == 0 and len(out.splitlines()) == 1 and "step/s" in err


def test_what_cannot_change_in_a_run_is_said_with_both_values(capsys, line):
    given, out = line
    call(capsys, *given)
    config = (out / "config.json").read_bytes()
    again = ["train", "--out", str(out), "--resume"]
    said = refused(capsys, *again, "--n-embd", "16")
    assert "--n-embd cannot change in a run that is resumed; it is 8, got 16" in said
    assert "corpus cannot change" in refused(capsys, *again, "--corpus", "story")
    assert "it has none, got 1" in refused(capsys, *again, "--set", "colour=1")
    assert "steps must be at least the 4 done" in refused(capsys, *again, "--steps", "3")
    assert (out / "config.json").read_bytes() == config


def test_a_resumed_run_with_a_smaller_rate_ends_at_a_tenth_of_it(capsys, line):
    given, out = line
    call(capsys, *given)
    again = ["train", "--out", str(out), "--resume", "--steps", "6", "--lr", "1e-5"]
    assert call(capsys, *again)[0] == 0
    settings = TrainConfig.from_dict(load_checkpoint(out).settings)
    assert settings.learning_rate == 1e-5 and settings.min_lr == pytest.approx(1e-6)


def test_a_folder_of_other_files_is_not_resumed(capsys, line):
    given, out = line
    out.mkdir()
    (out / "letter.txt").write_text("dear", encoding="utf-8")
    assert "holds letter.txt and no run" in refused(capsys, *given, "--resume")
    assert [path.name for path in out.iterdir()] == ["letter.txt"]
    (out / "letter.txt").rename(out / "metrics.jsonl")  # what a run killed at once leaves
    assert "ended before its first step; add --resume" in refused(capsys, *given)
    assert call(capsys, *given, "--resume")[0] == 0


def test_a_folder_of_which_a_killed_process_wrote_nothing_whole_is_free(capsys, line):
    given, out = line
    out.mkdir()
    (out / ".tmp-0123abcd-tokenizer.json").write_text("{", encoding="utf-8")
    assert call(capsys, *given)[0] == 0
    assert not list(out.glob(".*"))


def test_a_folder_to_resume_that_is_not_there_is_refused(capsys, line):
    given, out = line
    assert f"there is no folder {out} to resume" in refused(capsys, *given, "--resume")
    assert "there is no folder" in refused(capsys, "train", "--out", str(out), "--resume")
    assert not out.exists()


def test_a_run_in_the_way_is_told_how_to_go_on_and_other_files_are_not(capsys, line):
    given, out = line
    call(capsys, *given)
    before = (out / "metrics.jsonl").read_bytes()
    assert "already holds a run; add --resume" in refused(capsys, *given)
    assert (out / "metrics.jsonl").read_bytes() == before
    assert "is a file" in refused(capsys, *given, "--out", str(out / "config.json"))
    assert "cannot write" in refused(capsys, *given, "--out", str(out / "config.json" / "below"))
    (out / "config.json").unlink()
    assert "resume" not in refused(capsys, *given)


def test_without_its_checkpoints_a_run_goes_on_from_its_weights(capsys, line):
    given, out = line
    call(capsys, *given)
    before, curve = load_file(out / "model.safetensors"), (out / "metrics.jsonl").read_bytes()
    shutil.rmtree(out / "checkpoints")
    again = ["train", "--out", str(out), "--resume"]
    assert "already at its last step, 4" in call(capsys, *again)[1]
    assert "steps must be at least the 4 done" in refused(capsys, *again, "--steps", "3")
    weights = load_file(out / "model.safetensors")
    assert all(torch.equal(before[name], weights[name]) for name in before)
    code, _, err = call(capsys, *again, "--steps", "5", "--lr", "1e-12", "--warmup-steps", "0")
    assert code == 0 and "there is no checkpoint" in err and "an optimizer that begins anew" in err
    assert (out / "metrics.jsonl").read_bytes().startswith(curve)
    weights = load_file(out / "model.safetensors")
    for name in before:  # a step of nearly no length from the trained weights
        torch.testing.assert_close(weights[name], before[name], atol=1e-9, rtol=0)
    assert load_checkpoint(out).step == 5


def test_weights_of_an_unknown_step_are_not_overwritten(capsys, line):
    given, out = line
    call(capsys, *given)
    shutil.rmtree(out / "checkpoints")
    (out / "metrics.jsonl").write_text("", encoding="utf-8")
    before = (out / "model.safetensors").read_bytes()
    again = ["train", "--out", str(out), "--resume", "--steps", "9"]
    assert "does not say how far the weights" in refused(capsys, *again)
    assert (out / "model.safetensors").read_bytes() == before


@pytest.fixture
def two_checkpoints(capsys, line):
    """A run with a kept checkpoint of step 2 and its last one, of step 4."""
    given, out = line
    assert call(capsys, *given, "--snapshot-every", "2")[0] == 0
    return out


def spoil(path):
    content = path.read_bytes()
    path.unlink()  # other names of the file keep what they had
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


@pytest.mark.parametrize(
    "name", ["model.safetensors", "optimizer.safetensors", "state.json", "manifest.json"]
)
def test_a_damaged_newest_checkpoint_gives_way_to_the_one_before(capsys, two_checkpoints, name):
    out = two_checkpoints
    whole = load_checkpoint(out)
    spoil(out / "checkpoints" / "step-000004" / name)
    code, _, err = call(capsys, "train", "--out", str(out), "--resume")
    assert code == 0 and name in err and "the checkpoint of step 2 is used instead" in err
    again = load_checkpoint(out)  # the same steps once more
    assert again.step == 4
    assert all(torch.equal(whole.model[key], again.model[key]) for key in whole.model)
    (aside,) = (out / "checkpoints").glob("damaged-*")
    assert aside.name.startswith("damaged-step-000004") and (aside / name).exists()
    assert [record.step for record in read_metrics(out)] == [1, 2, 3, 4]


def test_a_damaged_older_checkpoint_hinders_no_run(capsys, two_checkpoints):
    out = two_checkpoints
    (out / "checkpoints" / "step-000002" / "state.json").write_text("{", encoding="utf-8")
    assert call(capsys, "train", "--out", str(out), "--resume", "--steps", "6")[0] == 0
    assert load_checkpoint(out).step == 6


def test_generate_falls_back_and_needs_no_optimizer(capsys, two_checkpoints):
    out = two_checkpoints
    newest = out / "checkpoints" / "step-000004"
    given = ["generate", "--checkpoint", str(out), "--prompt", "The", "--tokens", "9"]
    plain = call(capsys, *given)
    assert plain[0] == 0 and plain[2] == ""
    for name in ("optimizer.safetensors", "state.json"):
        (newest / name).unlink()
        assert call(capsys, *given) == plain
    spoil(newest / "model.safetensors")
    code, _, err = call(capsys, *given)
    assert code == 0 and "model.safetensors is damaged" in err and "step 2 is used" in err
    before = load_trained(out, 2).model.state_dict()
    used = load_trained(out).model.state_dict()
    assert all(torch.equal(before[name], used[name]) for name in before)
    spoil(out / "checkpoints" / "step-000002" / "model.safetensors")
    assert "model.safetensors is damaged" in refused(capsys, *given)


def test_weights_that_differ_from_the_newest_checkpoint_are_mentioned(capsys, two_checkpoints):
    out = two_checkpoints
    plain = out / "model.safetensors"
    given = ["generate", "--checkpoint", str(out), "--prompt", "The", "--tokens", "9"]
    written = call(capsys, *given)
    content = plain.read_bytes()
    plain.unlink()
    plain.write_bytes(content)  # a copy of its own, as where links are not to be had
    assert call(capsys, *given) == written
    spoil(plain)
    code, text, err = call(capsys, *given)
    assert code == 0 and text == written[1]
    assert f"{plain} holds other weights; those of" in err and "step-000004 are used" in err
    _, _, err = call(capsys, "train", "--out", str(out), "--resume", "--steps", "5")
    assert "holds other weights" in err
    assert call(capsys, *given)[2] == ""


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
        RuntimeError("CUDA out of memory. Tried to allocate 9 GiB\nsee the documentation"),
    ],
)
def test_too_large_a_model_is_one_line(capsys, line, monkeypatch, error):
    def full(*_):
        raise error

    monkeypatch.setattr("llmviz.training.plan.build", full)
    assert "not enough memory" in refused(capsys, *line[0])


def test_an_error_of_ours_is_not_called_a_lack_of_memory(line, monkeypatch):
    def broken(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr("llmviz.training.plan.build", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        cli.main(line[0])


def test_standard_input_that_is_not_utf8_is_one_line(capsys, monkeypatch):
    def given(data):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        return "tokenize", "--tokenizer", "bpe", "--json", "-"

    assert "standard input is not UTF-8: byte 0xFF" in refused(capsys, *given(b"a\xffb"))
    code, out, _ = call(capsys, *given("né\r\n".encode()))
    assert code == 0 and b"".join(map(bytes, json.loads(out)["bytes"])) == "né\r\n".encode()


def test_a_checkpoint_is_made_from_its_own_run_only(capsys, line, tmp_path):
    given, out = line
    call(capsys, *given)
    make = ["checkpoints", "make", "names-bigram", "--steps", "2"]
    assert "where it goes" in refused(capsys, *make)
    make += ["--to", str(tmp_path / "to"), "--threads", "1"]
    assert "another run than that of names-bigram" in refused(capsys, *make, "--work", str(out))
    assert not (tmp_path / "to").exists()
    for _ in range(2):  # the second time it goes on with what is there
        code, _, _ = call(capsys, *make, "--work", str(tmp_path / "work"), "--json")
        assert code == 0
    card = json.loads((tmp_path / "to" / "names-bigram" / "card.json").read_text("utf-8"))
    assert card["steps"] == 2


def test_a_recipe_of_two_parts_forks_the_first_and_keeps_the_second(capsys, monkeypatch, tmp_path):
    whole = recipes.RECIPES["names-bigram"]
    then = {"steps": 6000, "learning_rate": 0.05}
    monkeypatch.setitem(recipes.RECIPES, "names-bigram", dataclasses.replace(whole, then=(then,)))
    make = ["checkpoints", "make", "names-bigram", "--steps", "3", "--threads", "1", "--json"]
    make += ["--to", str(tmp_path / "to"), "--work", str(tmp_path / "work")]
    half = tmp_path / ".tmp-work-then" / "checkpoints"  # a kill left this
    half.mkdir(parents=True)
    for _ in range(2):  # the second time it goes on with what is there
        code, _, _ = call(capsys, *make)
        assert code == 0 and not half.exists()
    card = json.loads((tmp_path / "to" / "names-bigram" / "card.json").read_text("utf-8"))
    kept = json.loads((tmp_path / "to" / "names-bigram" / "config.json").read_text("utf-8"))
    assert card["steps"] == kept["train"]["steps"] == 6
    assert kept["train"]["learning_rate"] == 0.05 and kept["fork"]["step"] == 3
    assert card["fork"] == kept["fork"]
    assert kept["fork"]["fresh"] and kept["fork"]["of"] == "names-bigram, first part"
    again = [*make, "--steps", "4"]  # not that of a shorter trial
    assert "another run than that of names-bigram" in refused(capsys, *again)
    first = (tmp_path / "work" / "metrics.jsonl").read_text("utf-8")
    assert (tmp_path / "work-then" / "metrics.jsonl").read_text("utf-8").startswith(first)


def test_a_recipe_of_three_parts_says_what_each_changed(capsys, monkeypatch, tmp_path):
    whole = recipes.RECIPES["names-bigram"]
    second = {"steps": 6500, "learning_rate": 0.05}
    third = {"steps": 7000, "schedule_start": 6500, "warmup_steps": 1, "learning_rate": 0.02}
    then = (second, third)
    monkeypatch.setitem(recipes.RECIPES, "names-bigram", dataclasses.replace(whole, then=then))
    make = ["checkpoints", "make", "names-bigram", "--steps", "3", "--threads", "1", "--json"]
    make += ["--to", str(tmp_path / "to"), "--work", str(tmp_path / "work")]
    for _ in range(2):  # the second time there is nothing left to do
        assert call(capsys, *make)[0] == 0
    card = json.loads((tmp_path / "to" / "names-bigram" / "card.json").read_text("utf-8"))
    assert card["steps"] == 9
    assert card["fork"] == {
        "of": "names-bigram, second part",
        "step": 6,
        "changes": third | {"steps": 9, "schedule_start": 6},
        "fresh": True,
        "before": {
            "of": "names-bigram, first part",
            "step": 3,
            "changes": second | {"steps": 6},
            "fresh": True,
        },
    }
    lines = (tmp_path / "work-then-2" / "metrics.jsonl").read_text("utf-8").splitlines()
    rates = {one["step"]: one["lr"] for one in map(json.loads, lines)}
    assert rates[9] == pytest.approx(whole.plan.train.min_lr)
    # The third part alone is left, as where only what comes with the project is there.
    weights = load_file(tmp_path / "to" / "names-bigram" / "model.safetensors")
    for name in ("work", "work-then"):
        shutil.rmtree(tmp_path / name)
    assert call(capsys, *make)[0] == 0
    again = load_file(tmp_path / "to" / "names-bigram" / "model.safetensors")
    assert all(torch.equal(weights[name], again[name]) for name in weights)
    assert "another run than that of names-bigram" in refused(capsys, *make[:4], "4", *make[5:])


def test_a_second_part_is_interrupted_and_goes_on(capsys, monkeypatch, tmp_path):
    whole = recipes.RECIPES["names-bigram"]
    then = {"steps": 6000, "learning_rate": 0.05}
    monkeypatch.setitem(recipes.RECIPES, "names-bigram", dataclasses.replace(whole, then=(then,)))
    make = ["checkpoints", "make", "names-bigram", "--steps", "40", "--threads", "1", "--json"]

    def made(name):
        return call(capsys, *make, "--to", str(tmp_path / "to"), "--work", str(tmp_path / name))

    done = train.show

    def stops_in_the_second(prepared, out, interruption, *rest, **options):
        if out.endswith("-then"):
            interruption.signal = 2
        done(prepared, out, interruption, *rest, **options)

    with monkeypatch.context() as patched:
        patched.setattr(train, "show", stops_in_the_second)
        assert made("broken")[0] == 130
    assert not (tmp_path / "to").exists()
    shutil.rmtree(tmp_path / "broken")  # the first part is not needed any more
    assert made("broken")[0] == 0
    weights = load_file(tmp_path / "to" / "names-bigram" / "model.safetensors")
    assert made("whole")[0] == 0
    again = load_file(tmp_path / "to" / "names-bigram" / "model.safetensors")
    assert weights.keys() == again.keys()
    assert all(torch.equal(weights[name], again[name]) for name in weights)


def test_the_last_losses_are_written_once(capsys, line, monkeypatch):
    given, out = line
    code, lines, _ = call(capsys, *given, "--eval-every", "2")
    steps = [one.split(":")[0] for one in lines.splitlines()]
    assert code == 0 and steps == ["step 2", "step 4"]
    assert lines.splitlines()[-1].endswith(f"; in {out}")


def test_a_run_that_is_interrupted_after_a_validation_says_its_losses_once(
    capsys, line, monkeypatch
):
    given, out = line
    lines = train.write

    def interrupting(text, end="\n"):
        lines(text, end)
        if text.startswith("step 2:"):
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(train, "write", interrupting)
    code, said, _ = call(capsys, *given, "--eval-every", "2")
    assert code == 130 and [one.split(":")[0] for one in said.splitlines()][:1] == ["step 2"]
    assert said.count("step 2:") == 1 and said.splitlines()[-1].endswith(str(out))


def test_the_preparing_of_a_large_text_is_told_from_its_beginning(
    capsys, line, monkeypatch, tmp_path
):
    """What is read, learned, cut into tokens and counted, in this order, with counts."""
    documents = ["The cat sat on the mat."] * 50
    text = tmp_path / "many.txt"
    text.write_text("<|endoftext|>".join(documents), encoding="utf-8")
    given, _ = line
    given = [*given, "--corpus", str(text)]
    monkeypatch.setattr(train, "LARGE", 1000)
    code, _, err = call(capsys, *given)
    assert code == 0
    told = [one for one in err.splitlines() if re.search(r": [\d,]+ ", one)]
    assert told[0] == f"the text {text}: {text.stat().st_size:,} bytes"
    assert re.match(r"training the tokenizer char: 1,\d{3} characters", told[1])
    tokenizing = [one for one in told if one.startswith("tokenizing: ")]
    characters = sum(map(len, documents))
    assert tokenizing[0] == f"tokenizing: {characters:,} characters"
    assert 8 <= len(tokenizing) <= 10
    assert all(one.endswith(f" of {characters:,} characters") for one in tokenizing[1:])
    assert re.match(r"counting pairs of tokens: 1,\d{3} tokens", told[-1])


def test_ctrl_c_while_a_text_is_prepared_ends_at_once_and_leaves_nothing(
    capsys, line, monkeypatch, tmp_path
):
    given, out = line
    monkeypatch.setenv("LLMVIZ_TOKENS", str(tmp_path / "tokens"))
    monkeypatch.setattr("llmviz.training.kept_tokens.LARGE", 0)

    sent = []

    def interrupted(self, text):
        if not sent:
            sent.append(signal.raise_signal(signal.SIGINT))
        return list(map(ord, text))

    monkeypatch.setattr("llmviz.tokenizers.CharTokenizer.encode", interrupted)
    code, written, err = call(capsys, *given, "--tokenizer", "char")
    assert code == 130 and not written and "interrupted" in err
    assert not out.exists() and not list((tmp_path / "tokens").glob(".tmp-*"))


def test_a_small_text_is_prepared_without_a_word(capsys, line):
    given, _ = line
    assert "tokenizing" not in call(capsys, *given)[2]


def test_the_writing_of_tiny_world_is_told(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(train, "LARGE", 1000)
    given = ["train", "--corpus", "tiny-world", "--characters", "20000", "--steps", "1"]
    code, _, err = call(capsys, *given, "--out", str(tmp_path / "run"), *FAST, *SMALL)
    assert code == 0 and err.splitlines()[0] == "writing tiny-world: 20,000 characters"
