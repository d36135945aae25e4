"""The learner's name as models of names can read it: the letters a to z, and what was left out."""

from dataclasses import dataclass
from string import ascii_lowercase

from llmviz.course.document.marks import unmarked
from llmviz.course.lessons.history import words
from llmviz.course.lessons.history.params import NAME
from llmviz.course.ui import kit

LONGEST = 15  # letters: with the start token as many as the context of the bundled GPT
LISTED = 12  # different characters that a message names


@dataclass(frozen=True)
class TypedName:
    """What was typed, as far as it is used.

    letters: those from a to z, small. cut: the other characters, each once. typed: how many
    letters there were before the end was cut.
    """

    letters: str
    cut: tuple[str, ...]
    typed: int


def read(text: str, longest: int = LONGEST) -> TypedName:
    """Return the letters a to z of a text, capitals made small, at most `longest` of them.

    >>> read("Zoë-Ann")
    TypedName(letters='zoann', cut=('ë', '-'), typed=5)
    """
    kept, cut = [], {}
    for char in text:
        small = char.lower()
        if small in ascii_lowercase and len(small) == 1:
            kept.append(small)
        else:
            cut[char] = None
    return TypedName("".join(kept[:longest]), tuple(cut), len(kept))


def ask(state: kit.PageState, longest: int = LONGEST) -> str:
    """Show the box for the name; return its letters, and "" after one clear line if none is left.

    What is left out is named. The box keeps what the learner typed.
    """
    kit.text_input(state, NAME.key, words.name, help=words.name_help, width=280)
    return letters_of(state[NAME.key], longest, words.long, words.empty)


def letters_of(text: str, longest: int, long: str, empty: str) -> str:
    """Return the letters of a text that are read, and say what of it is left out.

    long: what is said of a longer text, with {all} and {limit}. empty: what is said of no letter.
    """
    reading = read(text, longest)
    if reading.cut:
        listed = " ".join(unmarked(kit.quote(char)) for char in reading.cut[:LISTED])
        listed += " …" if len(reading.cut) > LISTED else ""
        kit.inform(words.cut.format(cut=listed), ":material/content_cut:")
    if reading.typed > len(reading.letters):
        kit.inform(long.format(all=reading.typed, limit=longest), ":material/content_cut:")
    if not reading.letters:
        kit.inform(empty, ":material/edit:")
    return reading.letters
