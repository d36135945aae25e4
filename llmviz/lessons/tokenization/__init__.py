"""Text to tokens: one text, cut, compared, learned from, spelled in bytes, and windowed."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="tokenization",
    title="Text to tokens",
    icon=":material/content_cut:",
    card="Cut any text with six tokenizers, and watch one learn its tokens merge by merge.",
    headline="Text to tokens",
    promise=(
        "A language model never sees letters. Your text is cut into [[token|tokens]], and "
        "what the model reads is the number of each. Here you cut your own text, watch a "
        "tokenizer learn where to cut, and end with the very rows of numbers that a model "
        "practises on."
    ),
    chapters=[
        Chapter("cut", "Cut"),
        Chapter("compare", "Compare"),
        Chapter("learn", "Learn"),
        Chapter("merge", "Merge"),
        Chapter("bytes", "Bytes"),
        Chapter("windows", "Windows"),
    ],
)
