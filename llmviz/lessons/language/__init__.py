"""Words and their roles: counts, stems, lemmas, parts of speech, what layers know, names."""

from llmviz.ui.lesson import Chapter, Lesson

LESSON = Lesson(
    key="language",
    title="Words and their roles",
    icon=":material/abc:",
    card="Count words, cut them to stems, tag them by tables and by a transformer, find names.",
    promise=(
        "Before there were transformers, programs counted words, cut off their endings and asked "
        "which of them are verbs and which are names. Here you do each of these tasks on your own "
        "words. Then you see what a language model knows about them without having been told."
    ),
    chapters=[
        Chapter("counts", "Counts", 15),
        Chapter("stems", "Stems", 15),
        Chapter("lemmas", "Lemmas", 10),
        Chapter("tags", "Parts of speech", 25),
        Chapter("probing", "What layers know", 12),
        Chapter("names", "Names", 15),
    ],
    needs=(
        "The first two chapters take nothing for granted. The third uses the tags that the fourth "
        "explains. From the fourth on, you need the vectors inside a transformer, its [[residual "
        "stream]]."
    ),
)
