"""The chapter "Reinforcement" of the lesson "Rewards and reasoning"."""

from llmviz.course.document import beside
from llmviz.course.lessons.reasoning.reinforce.model import MOST
from llmviz.course.lessons.reasoning.reward_runs import WAYS
from llmviz.course.ui import codec

words = beside(__file__)

BETAS = ("0", "0.01", "0.03", "0.1", "0.3", "1")
LEARNED = WAYS[:-1]  # DPO learns from pairs, not from groups

PARAMS = [
    codec.text("rlsum", "47+85", 20),
    codec.choice("rlway", "grpo", LEARNED),
    codec.integer("rlgroup", 8, 1, MOST),
    codec.integer("rldraw", 0, 0, 999),
    codec.text("rlcell", ""),
    codec.choice("rlbeta", "0", BETAS),
    codec.integer("rlupdates", 80, 10, 120),
    codec.flag("rlrun", False),
]
