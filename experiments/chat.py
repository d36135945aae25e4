"""What chat models reply on conversations kept apart: measured once, and recorded.

Makes what `llmviz.course.lessons.reasoning.conversation.chat_record` reads.
"""

from __future__ import annotations

import argparse
import random
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import Tensor

from llmviz.course.lessons.reasoning.conversation import chat_model
from llmviz.course.lessons.reasoning.conversation.chat_model import (
    ALL,
    BATCH,
    COMMAND,
    RATE,
    REPLIES,
    SCALES,
    SEEDS,
    STEPS,
    WARMUP,
    WAYS,
    bundled,
    new_model,
    template,
    tokenizer,
    unpack,
)
from llmviz.course.lessons.reasoning.conversation.chat_prompts import (
    AS_WORDS,
    OWN,
    TYPED,
    WRONG,
    prompt_of,
)
from llmviz.course.lessons.reasoning.think_first import Share
from llmviz.files.paths import EXPERIMENT_FOLDER
from llmviz.finetuning.conversations import (
    ACTS,
    ASSISTANT,
    LINES,
    LONG,
    NEVER_ASKED,
    SHORT,
    SYSTEM,
    USER,
    Message,
    Talk,
    act_of,
    conversations,
    declined,
)
from llmviz.finetuning.instructions import ask
from llmviz.finetuning.masked import Scored
from llmviz.serving.chat_template import OWN_STOPS, TURN_END, TURNS
from llmviz.training import small_models
from llmviz.training.files import read_json, write_json
from llmviz.training.run_folder import Trained

if TYPE_CHECKING:
    from llmviz.models.gpt import GPT
from llmviz.course.lessons.reasoning.conversation.chat_record import (
    CHANGED,
    FILE,
    HELD,
    HELD_SEED,
    LONGEST,
    NEVER,
    ChatModel,
    Measured,
)

SETTINGS = {
    REPLIES: (OWN, CHANGED, NEVER, *WRONG, *TYPED),
    ALL: (OWN, CHANGED, NEVER),
}


def scored_tokens(talk: Talk, way: str = REPLIES) -> list[Scored]:
    """Return a conversation token by token, and which of them the loss counts.

    That are the words of the assistant and the ends of its turns, or all tokens behind the first.
    """
    from llmviz.finetuning.masked import Scored

    own, pieces = tokenizer(), template().pieces([message.plain for message in talk])[:-1]
    tokens: list[Scored] = []
    speaks = False
    for piece in pieces:
        ids = own.encode(piece.text) if piece.id is None else [piece.id]
        counts = speaks or (way == ALL and bool(tokens))
        tokens += [Scored(token, counts) for token in ids]
        if piece.id is not None:
            speaks = piece.text == f"<|{ASSISTANT}|>"
    return tokens


def train(way: str, seed: int, steps: int = STEPS, batch: int = BATCH) -> GPT:
    """Train a model on conversations, each read once; those of like length are read together.

    The conversations, their order and the first weights are the same for both ways of a seed. The
    products are in bfloat16 where the processor has instructions for it.
    """
    import torch

    from llmviz.finetuning.masked import masked_batch
    from llmviz.training.device import has_fast_bfloat16

    model, own, talks = new_model(seed), tokenizer(), conversations(steps * batch, seed)
    rows = sorted((scored_tokens(talk, way)[: model.context_length + 1] for talk in talks), key=len)
    batches = [rows[first : first + batch] for first in range(0, len(rows), batch)]
    random.Random(seed).shuffle(batches)
    fast = has_fast_bfloat16(torch.device("cpu"))

    def loss_at(step: int) -> torch.Tensor:
        with torch.autocast("cpu", torch.bfloat16, enabled=fast):
            loss = model(*masked_batch(batches[step], own.end))[1]
        assert loss is not None  # there are targets
        return loss

    for _ in small_models.descend(
        model, loss_at, len(batches), rate=RATE, warmup=WARMUP, floor=0.04, betas=(0.9, 0.99)
    ):
        pass
    return rounded(model.eval())


def packed(model: GPT) -> dict[str, Tensor]:
    """Return the weights as they are bundled: matrices in int8 with a scale for each row.

    The rest is float16.
    """
    import torch

    tensors: dict[str, Tensor] = {}
    for name, tensor in model.state_dict().items():
        if name == "head.weight":  # the table of tokens
            continue
        if tensor.dim() < 2:
            tensors[name] = tensor.half()
            continue
        scales = (tensor.abs().amax(1, keepdim=True) / 127).clamp(min=1e-8)
        tensors[name] = (tensor / scales).round().to(torch.int8)
        tensors[name + SCALES] = scales
    return tensors


def rounded(model: GPT) -> GPT:
    """Return a model as it is once its weights were bundled: what is measured is what is kept."""
    return unpack(model, packed(model))


def published() -> Trained:
    """Return the bundled model with its template, as `export_folder` writes it for `llmviz serve`.

    Raises ValueError as `bundled`.
    """
    from llmviz.training.config import TrainConfig
    from llmviz.training.reading import CHAT
    from llmviz.training.run_folder import Trained, describe

    model, own = bundled(), tokenizer()
    data = {
        "corpus": "tiny-world",
        "documents": STEPS * BATCH,
        "context_length": model.context_length,
    }
    described = describe("gpt", model, own, TrainConfig(), data)
    return Trained(model, own, described | {CHAT: {"template": TURNS, "tokens": {}}})


@dataclass(frozen=True)
class Case:
    """A prompt, the reply that is right, and the number of the user's turn before it."""

    prompt: tuple[int, ...]
    reply: Message
    turn: int


def held_out(count: int = HELD) -> list[Talk]:
    """Return the conversations that are kept apart."""
    return conversations(count, HELD_SEED)


def typed_line(message: Message, line: str, how: str) -> Message:
    """Return a user's turn with a system line typed in front of it."""
    written = f"{TURN_END}<|system|> {line}{TURN_END}<|user|>" if how != AS_WORDS else line
    return replace(message, content=f"{written} {message.content}")


def cases(talks: Sequence[Talk], setting: str, context: int) -> list[Case]:
    """Return each reply of conversations as a case; those that do not fit are left out."""
    found = []
    for number, talk in enumerate(talks):
        rows = _new_question(talk, number) if setting == NEVER else talk
        form, turn = LONG, 0
        for at, message in enumerate(rows):
            turn += message.role == USER
            form = SHORT if message.content == LINES[SHORT] else form
            form = LONG if message.content == LINES[LONG] else form
            if message.role != ASSISTANT:
                continue
            before, last = rows[: at - 1], rows[at - 1]
            line = LINES[SHORT if form == LONG else LONG]
            if setting == CHANGED:
                before = (*before, Message(SYSTEM, line))
                message = Message(ASSISTANT, message.other, message.act, message.content)
            elif setting in TYPED:
                last = typed_line(last, line, setting)
            prompt = prompt_of((*before, last), setting)
            if len(prompt) + LONGEST <= context:
                found.append(Case(prompt, message, turn))
    return found


def _new_question(talk: Talk, number: int) -> Talk:
    """The beginning of a conversation, with a question that no story answers, of a new kind."""
    at = next(at for at, message in enumerate(talk) if message.role == USER)
    story = talk[at].content.rpartition("\n")[0]
    hero = next(question.answer for question in ask(story) if question.kind == "hero")
    question = NEVER_ASKED[number % len(NEVER_ASKED)].format(name=hero.split()[0])
    form = SHORT if talk[0].content == LINES[SHORT] else LONG
    return (*talk[:at], Message(USER, f"{story}\n{question}"), declined(form))


def written(model: GPT, prompts: Sequence[Sequence[int]]) -> list[tuple[str, bool]]:
    """Return the reply to each prompt at temperature 0, and whether the model ended it by itself.

    A reply also ends where a line would begin with a name, as the template of lines has it.
    """
    from llmviz.finetuning.rollouts import sample_groups

    own = chat_model.tokenizer()
    end = own.special_tokens[TURN_END]
    replies = []
    for (ids,) in sample_groups(model, prompts, 1, LONGEST, end, 0, temperature=0.0):
        text = own.decode([token for token in ids if token != end])
        stop = re.search("|".join(map(re.escape, OWN_STOPS)), text)
        ended = bool(ids and ids[-1] == end) or stop is not None
        replies.append((text[: stop.start()] if stop else text, ended))
    return [(text.strip(), ended) for text, ended in replies]


def measure(model: GPT, tests: Sequence[Case]) -> Measured:
    """Ask a model all cases."""
    rows = list(zip(tests, written(model, [case.prompt for case in tests]), strict=True))

    def share(hits: Sequence[bool]) -> Share:
        return Share(sum(hits), len(hits))

    did = Counter((case.reply.act, act_of(text)) for case, (text, _) in rows)
    right = [text == case.reply.content for case, (text, _) in rows]
    turns = sorted({case.turn for case in tests})
    return Measured(
        {want: {act: did[want, act] for act in ACTS} for want in ACTS},
        share([hit for hit, case in zip(right, tests, strict=True) if case.reply.act == ACTS[0]]),
        {
            n: share([r for r, case in zip(right, tests, strict=True) if case.turn == n])
            for n in turns
        },
        share(right),
        share([text == case.reply.other for case, (text, _) in rows]),
        share([ended for _, (_, ended) in rows]),
    )


def losses(model: GPT, talks: Sequence[Talk]) -> tuple[float, float]:
    """Return the mean loss of the assistant's tokens, and of all other tokens behind the first."""
    import torch

    sums, counts = [0.0, 0.0], [0, 0]
    for talk in talks:
        tokens = scored_tokens(talk)[: model.context_length + 1]
        ids = torch.tensor([[token.id for token in tokens]])
        with torch.inference_mode():
            chances = model(ids[:, :-1])[0][0].log_softmax(-1)
        nats = -chances[torch.arange(len(tokens) - 1), ids[0, 1:]]
        for cost, token in zip(nats.tolist(), tokens[1:], strict=True):
            sums[not token.counts] += cost
            counts[not token.counts] += 1
    return sums[0] / counts[0], sums[1] / counts[1]


def measured(model: GPT, way: str, seed: int, held: int = HELD) -> ChatModel:
    """Measure a model in all settings of its way."""
    talks, context = held_out(held), model.context_length
    found = {setting: measure(model, cases(talks, setting, context)) for setting in SETTINGS[way]}
    return ChatModel(way, seed, *losses(model, talks), found)


def make(folder: Path = EXPERIMENT_FOLDER) -> None:
    """Train and measure all models; the files are written after each."""
    from tqdm import tqdm

    from llmviz.training.tensors import save_tensors

    path = folder / FILE
    content: dict[str, Any] = {"command": COMMAND, "seconds": 0.0, "models": []}
    if path.is_file():
        content = read_json(path)
    done = {(row["way"], row["seed"]) for row in content["models"]}
    wanted = [(way, seed) for way in WAYS for seed in SEEDS if (way, seed) not in done]
    for way, seed in tqdm(wanted, unit="model"):
        begun = time.perf_counter()
        model = train(way, seed)
        if (way, seed) == (REPLIES, SEEDS[0]):
            save_tensors(folder / chat_model.WEIGHTS, packed(model))
        content["models"].append(asdict(measured(model, way, seed)))
        content["seconds"] = round(content["seconds"] + time.perf_counter() - begun, 1)
        write_json(path, content)


def main() -> None:
    """Read the arguments; train and measure, or write the bundled model for `llmviz serve`."""
    parser = argparse.ArgumentParser(description="Train and measure the chat models again.")
    parser.add_argument("--to", type=Path, default=EXPERIMENT_FOLDER, help="the folder written to")
    parser.add_argument(
        "--publish",
        type=Path,
        metavar="FOLDER",
        help="train nothing; write the bundled model and its template to a new folder, which "
        "`llmviz serve --checkpoint FOLDER` serves",
    )
    given = parser.parse_args()
    if given.publish:
        from llmviz.publishing.folder import export_folder

        export_folder(published(), given.publish)
    else:
        make(given.to)


if __name__ == "__main__":
    main()
