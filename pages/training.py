"""Training: runs of one's own, what their curves mean, and how weights learn."""

from llmviz.ui import codec
from llmviz.ui.lesson import Chapter, chapters, lesson
from llmviz.ui.lessons.training import (
    backprop,
    curves,
    descent,
    loss,
    overfitting,
    params,
    race,
    running,
    words,
)
from llmviz.ui.state import page_state

PARTS = [
    Chapter("runs", words.CHAPTERS["runs"], running.draw),
    Chapter("curves", words.CHAPTERS["curves"], curves.draw),
    Chapter("loss", words.CHAPTERS["loss"], loss.draw),
    Chapter("descent", words.CHAPTERS["descent"], descent.draw),
    Chapter("backprop", words.CHAPTERS["backprop"], backprop.draw),
    Chapter("race", words.CHAPTERS["race"], race.draw),
    Chapter("overfitting", words.CHAPTERS["overfitting"], overfitting.draw),
]
CONTROLS = [
    codec.choice("part", PARTS[0].key, [part.key for part in PARTS]),
    *params.COMMON,
    *running.PARAMS,
    *curves.PARAMS,
    *loss.PARAMS,
    *descent.PARAMS,
    *backprop.PARAMS,
    *race.PARAMS,
    *overfitting.PARAMS,
]

state = page_state("training", CONTROLS)
lesson(words.TITLE, words.PROMISE, state)
chapters(PARTS, state)
