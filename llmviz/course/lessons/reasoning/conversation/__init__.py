"""Chapter "A conversation is one text": turns as tokens, a template, a small chat model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from llmviz.course.document import beside
from llmviz.course.ui import codec

if TYPE_CHECKING:
    from llmviz.finetuning.conversations import Role

words = beside(__file__)

MOST_TURNS = 8
LONGEST = 700  # characters of a turn
STORY = (
    "It was Thursday, and Tamara Wintermere the blacksmith felt scared. Across the hill lived "
    "Tobias Copperworth, a stubborn archer. They met at the arena. After lunch Tobias found a big "
    "green diamond under the wardrobe. Then Tamara found a big golden lens under the stool. Tobias "
    "saw a polite mosquito."
)
ROLES = ("system", "user", "assistant")
FIRST: tuple[tuple[Role, str], ...] = (
    ("system", "Answer in a whole sentence."),
    ("user", f"{STORY}\nWhere did they meet?"),
    ("assistant", "They met at the arena."),
    ("user", "What colour is it?"),
)

SHAPES = ("own", "swapped", "all_user", "no_roles", "lines")

PARAMS = [
    codec.choice("chatshape", SHAPES[0], SHAPES),
    codec.integer("chatturns", len(FIRST), 1, MOST_TURNS),
    *(
        codec.choice(
            f"chatrole{n}", FIRST[n - 1][0] if n <= len(FIRST) else ROLES[1 + n % 2], ROLES
        )
        for n in range(1, MOST_TURNS + 1)
    ),
    *(
        codec.text(f"chattext{n}", FIRST[n - 1][1] if n <= len(FIRST) else "", LONGEST)
        for n in range(1, MOST_TURNS + 1)
    ),
]
