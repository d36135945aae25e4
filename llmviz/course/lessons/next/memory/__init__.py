"""The chapter "Memory" of the lesson "What comes next"."""

from llmviz.course.document import beside
from llmviz.course.ui import codec

words = beside(__file__)

MOST_HEARD = 9  # orders of the text whose memory is opened: of 6 guests, 3 change their mind

PARAMS = [
    codec.choice("memkind", "adds", list(words.kinds)),
    codec.choice("memsize", "8", [str(size) for size in words.sizes]),
    codec.choice("memwho", "once", list(words.who)),
    codec.integer("memheard", 4, 1, MOST_HEARD),
    codec.integer("memasked", 1, 1, 6),
    codec.integer("memdraw", 41, 0, 99),
    codec.flag("memown", False),
]
