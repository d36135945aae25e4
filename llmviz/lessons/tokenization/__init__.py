"""The lesson on tokens: a text is cut, learned from, written as bytes, and cut into windows."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="tokenization",
    title="Text to tokens",
    icon=":material/content_cut:",
    card="Cut any text with six tokenizers, and watch one learn its tokens merge by merge.",
    promise=(
        "A language model does not read text. It reads numbers. First, a text is cut into "
        "[[token|tokens]]. Then each token is replaced by its number. Here you cut your own text "
        "and watch a tokenizer learn where to cut. At the end you see the rows of numbers that a "
        "model is trained on."
    ),
    chapters=[
        Chapter("cut", "Cut", minutes=20),
        Chapter("vocabulary", "Words", minutes=20),
        Chapter("compare", "Compare", minutes=20),
        Chapter("learn", "Learn", minutes=30),
        Chapter("merge", "Merge", minutes=20),
        Chapter("wordpiece", "WordPiece", minutes=30),
        Chapter("bytes", "Bytes", minutes=15),
        Chapter("windows", "Windows", minutes=25),
    ],
    needs="You need no knowledge for this lesson. It is the first one to take.",
)
