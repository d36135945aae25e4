"""Chapter "Many requests"."""

from llmviz.course.document import beside
from llmviz.course.lessons.efficiency.serving.model import TRIAL, WAYS
from llmviz.course.ui import codec

words = beside(__file__)

MEMORY = TRIAL.config.n_blocks * TRIAL.config.block_size
OPENING = -1  # the step or the request that the run itself names: `Shown.openings`
PARAMS = [
    codec.choice("serveshown", "0", list(words.runs)),
    codec.integer("servetick", OPENING, OPENING, 100_000),
    codec.integer("serverequest", OPENING, OPENING, 1_000),
    codec.choice("servepolicy", TRIAL.policies[0], list(words.policies)),
    codec.choice("serveagainst", TRIAL.policies[1], list(words.policies)),
    codec.integer("servecount", TRIAL.workload.requests, 4, 40),
    codec.integer("serverate", int(TRIAL.workload.arrival_rate), 0, 400),
    codec.integer("serveprompt", TRIAL.workload.prompt_tokens, 4, 64),
    codec.integer("servenew", TRIAL.workload.new_tokens, 4, 64),
    codec.integer("servesamples", TRIAL.workload.samples, 1, 4),
    codec.choice("servekind", WAYS[0], list(words.kinds)),
    codec.integer("servebeginning", TRIAL.workload.same_beginning, 0, 64),
    codec.integer("servebatch", TRIAL.config.max_batch, 4, 16),
    codec.choice("serveblock", str(TRIAL.config.block_size), list(words.block_sizes)),
    codec.integer("servememory", MEMORY, 256, 4096),  # 256: the context of the model fits
    codec.flag("serveshare", TRIAL.config.share_prefixes),
    codec.choice("servepreempt", TRIAL.config.preemption, list(words.preemptions)),
    codec.text("serveown", "", 2_000),
    codec.flag("serverun", False),
    codec.choice("serveways", WAYS[1], list(words.kinds)),
    codec.integer("servewaystick", OPENING, OPENING, 10_000),
    codec.integer("servewaystext", 0, 0, 100),
]
