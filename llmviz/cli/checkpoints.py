"""`checkpoints`: the bundled models, making them again, and scoring one on probes."""

from __future__ import annotations

import argparse
from typing import Any

from llmviz.cli.make_checkpoint import run_make
from llmviz.cli.options import place, table, whole, write, write_json
from llmviz.training.config import MOST_THREADS

MOST_PROBES = 10_000  # of each rule; they are kept in memory


def add(commands: Any) -> None:
    """Declare the command and its parts."""
    parser = commands.add_parser(
        "checkpoints",
        help="list the bundled models, score one, or train one again",
        examples=(
            "checkpoints list",
            "checkpoints score tiny-world-gpt",
            "checkpoints make names-gpt --steps 100 --out trial",
        ),
        description="The models that come with the project, each with its card.",
    )
    parts = parser.add_subparsers(
        dest="part", metavar="list|make|score", required=True, parser_class=type(parser)
    )
    listing = parts.add_parser("list", help="names, and what each card says")
    listing.set_defaults(run=run_list)
    make = parts.add_parser("make", help="train, evaluate and export one")
    make.add_argument("name", metavar="NAME", help="see `checkpoints list`")
    make.add_argument(
        "--work",
        type=place,
        metavar="DIR",
        help="folder of the run itself; a run that is there already is resumed",
    )
    make.add_argument(
        "--to",
        "--out",
        dest="to",
        type=place,
        metavar="DIR",
        help="where the result goes; default data/checkpoints",
    )
    make.add_argument(
        "--threads", type=whole(0, MOST_THREADS), default=0, help="CPU threads, 0 = measure"
    )
    make.add_argument("--steps", type=whole(1), help="another number of steps, for a trial")
    make.set_defaults(run=run_make)
    score = parts.add_parser(
        "score", help="count how many probes of each rule of tiny-world a model gets right"
    )
    score.add_argument("name", metavar="NAME", help="of a bundled model, or the folder of a run")
    score.add_argument(
        "--probes", type=whole(1, MOST_PROBES), default=1000, help="of each rule; default 1000"
    )
    score.add_argument(
        "--seed",
        type=whole(0),
        default=0,
        help="of their stories; the scores on the cards are for 0",
    )
    score.set_defaults(run=run_score)
    for part in (listing, make, score):
        part.add_argument("--json", action="store_true", help="one JSON object")


def run_list(given: argparse.Namespace) -> int:
    """Write the recipes and which of them are there."""
    from llmviz.files.paths import BUNDLED_CHECKPOINTS, TUNED
    from llmviz.finetuning.recipes import TUNINGS
    from llmviz.language import role_scores
    from llmviz.language.bundle import DESCRIPTION, TAGGER
    from llmviz.training.files import read_json
    from llmviz.training.recipes import RECIPES

    listed: dict[str, Any] = {}
    described = {name: recipe.description for name, recipe in RECIPES.items()}
    described |= {name: recipe.description for name, recipe in TUNINGS.items()}
    described |= {TAGGER: DESCRIPTION, role_scores.ROLE_SCORES: role_scores.DESCRIPTION}
    for name, description in described.items():
        folder = BUNDLED_CHECKPOINTS if name in RECIPES else TUNED
        file = folder / name / "card.json"
        listed[name] = {
            "description": description,
            "card": read_json(file) if file.exists() else None,
        }
    if given.json:
        write_json(listed)
        return 0
    rows = [("checkpoint", "parameters", "nats per token", "lowest of its probes", "what it is")]
    for name, about in listed.items():
        card = about["card"] or {}
        score = card.get("score", {}).get("nats_per_token")
        rows.append(
            (
                name,
                f"{card['parameters']:,}" if card else "not made",
                f"{score:.4f}" if score else "",
                _lowest(card),
                about["description"],
            )
        )
    write(table(rows))
    return 0


def _lowest(card: dict[str, Any]) -> str:
    """The kind of probe that a model gets right least often, "" for a card without probes."""
    from llmviz.training.measures import probe_shares

    scores = probe_shares(card)
    if not scores:
        return ""
    kind = min(scores, key=lambda kind: scores[kind].share)
    return f"{kind} {scores[kind]}"


def run_score(given: argparse.Namespace) -> int:
    """Write how many probes of each rule a model gets right, and how many it writes."""
    from llmviz.models.catalogue import able
    from llmviz.pretrained import find_model
    from llmviz.training.evaluate import probe_scores
    from llmviz.training.measures import CONFIDENCE

    trained = find_model(given.name)
    description = trained.description
    corpus = str(description.get("data", {}).get("corpus"))
    if not able(description["model"]["name"], "next_token") or not corpus.startswith("tiny-world"):
        raise ValueError(
            "probes test models that continue stories of tiny-world; "
            f"{given.name} is {description['model']['name']} on {corpus}"
        )
    scores = probe_scores(trained.model, trained.tokenizer, None, given.probes, given.seed)
    if given.json:
        write_json(
            {
                kind: score.of_two.to_dict() | {"greedy": score.greedy.to_dict()}
                for kind, score in scores.items()
            }
        )
        return 0
    rows = [("probes", "of", f"right of two ({CONFIDENCE:.0%} interval)", "written greedily")]
    rows += [
        (kind, f"{score.of_two.count:,}", str(score.of_two), str(score.greedy))
        for kind, score in scores.items()
    ]
    write(table(rows))
    write("Right of two: the right continuation is more probable than the wrong; guessing: 50 %.")
    write("Written greedily: the right continuation is what taking the most probable token writes.")
    return 0
