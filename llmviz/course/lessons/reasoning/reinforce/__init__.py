"""The chapter "Reinforcement" of the lesson "Rewards and reasoning"."""

from llmviz.course.document import beside
from llmviz.course.lessons.reasoning.reinforce.bandit_model import BASELINES, NONE, UPDATES
from llmviz.course.lessons.reasoning.reinforce.model import MOST
from llmviz.course.lessons.reasoning.reward_runs import WAYS
from llmviz.course.ui import codec

words = beside(__file__)

RATES = ("0.1", "0.2", "0.5", "1", "2")  # of the three arms
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
    codec.number("paya", 0.5, -1, 1),
    codec.number("payb", 1.0, -1, 1),
    codec.number("payc", 0.2, -1, 1),
    codec.choice("armbase", NONE, BASELINES),
    codec.choice("armrate", "0.5", RATES),
    codec.integer("armseed", 0, 0, 999),
    codec.integer("armupdate", 1, 1, UPDATES),
    codec.text("armcell", ""),
]
