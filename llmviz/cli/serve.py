"""`serve`: a trained model behind HTTP, for many clients at once."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from llmviz.cli.generate import add_checkpoint
from llmviz.cli.options import add_settings, chosen, place, whole, write
from llmviz.config import settings_of
from llmviz.files.paths import HUB
from llmviz.models.catalogue import able
from llmviz.serving.settings import Limits, ServingConfig

LOOPBACK = "127.0.0.1"


def add(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "serve",
        help="serve a trained model over HTTP",
        examples=(
            "serve --checkpoint tiny-world-gpt",
            "serve --checkpoint runs/mine --port 9000",
        ),
        description=(
            "Answer POST /v1/completions and /v1/chat/completions in the form of OpenAI's API, in "
            "one piece or as a stream, until Ctrl-C. The page at / is there to type into. Many "
            "clients share the model. The engine is llmviz.serving."
        ),
    )
    given = parser.add_argument
    add_checkpoint(parser)
    given("--name", type=place, help="how clients call the model; default the checkpoint's name")
    given("--port", type=whole(0, 65535), default=8000, help="default 8000; 0 = any that is free")
    given(
        "--address",
        default=LOOPBACK,
        help=f"default {LOOPBACK}, which only this machine reaches; 0.0.0.0 serves the network",
    )
    given(
        "--chat-template",
        type=place,
        metavar="FILE",
        help="a jinja template that makes a text of a conversation; default the model's own, or "
        "one line for each message",
    )
    add_settings(parser, ServingConfig)
    add_settings(parser, Limits)
    parser.set_defaults(run=run)


def run(given: argparse.Namespace) -> int:
    """Serve until a signal comes."""
    from llmviz.files.text import read_text_file
    from llmviz.pretrained import find_model
    from llmviz.serving.chat_template import UNTAUGHT, Conversation
    from llmviz.serving.engine import Engine
    from llmviz.serving.http.routes import application
    from llmviz.serving.http.scoring import Scorer
    from llmviz.serving.http.served import Served
    from llmviz.serving.http.server import Server, hosts_for, is_loopback, listen
    from llmviz.serving.http.service import Service
    from llmviz.training.data import end_id, padding_ids
    from llmviz.training.reading import CHAT

    config = ServingConfig(**chosen(given, settings_of(ServingConfig)))
    limits = Limits(**chosen(given, settings_of(Limits)))
    trained = find_model(given.checkpoint)
    for note in trained.notes:
        sys.stderr.write(f"note: {note}\n")
    model, tokenizer = trained.model, trained.tokenizer
    _check_served(model, given.checkpoint, trained.description["model"]["name"])
    end_id(tokenizer)  # it must have one
    chat = trained.description.get(CHAT, {"template": None, "tokens": {}})
    template = read_text_file(given.chat_template) if given.chat_template else chat["template"]
    conversation = Conversation(tokenizer, template, chat["tokens"])
    with listen(given.address, given.port) as listening:
        service = Service(Engine(model, config))
        served = Served(
            name=given.name or Path(given.checkpoint.removeprefix(HUB)).name,
            tokenizer=tokenizer,
            service=service,
            context=model.context_length,
            vocabulary=model.config.vocab_size,
            banned=padding_ids(tokenizer),
            room=config.n_blocks * config.block_size,
            scorer=Scorer(model),
            conversation=conversation,
            limits=limits,
        )
        server = Server(application(served, hosts_for(given.address)), service)
        name = f"[{given.address}]" if ":" in given.address else given.address
        address = f"{name}:{listening.getsockname()[1]}"
        write(f"serving {served.name} at http://{address}/v1")
        write(f"a page to type into: http://{address}/")
        if not conversation.taught:
            sys.stderr.write(f"note: in a chat, {UNTAUGHT}\n")
        if not is_loopback(given.address):
            sys.stderr.write("note: all who reach this address may use the model\n")
        service.start()
        server.run(sockets=[listening])
    return 0


def _check_served(model: Any, checkpoint: str, kind: str) -> None:
    """Raise ValueError for a model that is not served, naming bundled ones that are."""
    from llmviz.files.paths import CHECKPOINTS
    from llmviz.models.settings import GPTConfig
    from llmviz.pretrained import bundled, read_card
    from llmviz.serving.paged_model import check_can_serve, check_settings
    from llmviz.training.reading import read_description

    def is_served(name: str) -> bool:
        if not able(read_card(name)["model"], "next_token", "attention"):
            return False
        try:
            described = read_description(CHECKPOINTS / name)["model"]
            check_settings(GPTConfig.from_dict(described["config"]))
        except ValueError:
            return False
        return True

    try:
        check_can_serve(model)
    except ValueError as error:
        served = ", ".join(filter(is_served, bundled()))
        raise ValueError(
            f"{checkpoint} is a {kind}, and {error}; bundled models that are served: {served}"
        ) from error
