"""Every text one can train on, by name, or any UTF-8 file of the user."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from glob import has_magic
from pathlib import Path

from llmviz.corpus.documents import Corpus
from llmviz.corpus.downloads import DOWNLOADS, cache_folder, fetch
from llmviz.corpus.pairs import PairCorpus, load_pairs
from llmviz.corpus.pieces import Piece, is_list, joined, pieces_of
from llmviz.corpus.sources import FIELD, LIMIT, files_of, read_pieces
from llmviz.corpus.tiny_world import WorldOptions, generate
from llmviz.files.paths import DATA
from llmviz.files.text import ENDOFTEXT, read_text_file

TINY_WORLD_CHARACTERS = 8_000_000


@dataclass(frozen=True)
class CorpusEntry:
    """A corpus that can be loaded by name."""

    name: str
    description: str
    bundled: bool
    load: Callable[..., Corpus] = field(repr=False)
    file: Path | None = None  # where it lies, for a bundled file


def load_corpora(
    sources: Sequence[str | Path], *, column: str = FIELD, progress: bool = False
) -> Corpus:
    """Load several corpora, files, folders or patterns as one corpus of all their documents.

    Raises ValueError as `load_corpus`, and for sentences with translations among them.
    """
    loaded = [load_corpus(source, column=column, progress=progress) for source in sources]
    if len(loaded) == 1:
        return loaded[0]
    for source, corpus in zip(sources, loaded, strict=True):
        if isinstance(corpus, PairCorpus):
            raise ValueError(f"{source} holds sentences with their translations; give it alone")
    names = " and ".join([loaded[0].name, f"{len(loaded) - 1} more"])
    return Corpus(names, [part for corpus in loaded for part in corpus.documents])


def load_corpus(
    name_or_path: str | Path,
    *,
    column: str = FIELD,
    characters: int | None = None,
    seed: int = 0,
    options: WorldOptions | None = None,
    progress: bool = False,
) -> Corpus:
    """Load a corpus by its name in CORPORA, or read the user's own texts.

    Own texts are a file, a folder or a pattern such as `texts/*.md`; formats: `corpus.sources`.
    column: the field of a .jsonl, or column of a .parquet, that holds the documents.

    characters, seed, options: for `tiny-world`, how much to write (TINY_WORLD_CHARACTERS if None),
    the seed, and which regularities hold. progress: a bar on standard error, for a download, and in
    a terminal for tiny-world.
    A plain text is cut into documents by the rule of `corpus.pieces`.
    Raises ValueError, in one line, for an unknown name, a file that cannot be read as UTF-8 text,
    an empty text; CorpusUnavailable (a ValueError) if a download fails.
    """
    key = str(name_or_path)
    if key in CORPORA:
        return CORPORA[key].load(
            characters=characters, seed=seed, options=options, progress=progress
        )
    path = Path(name_or_path)
    check_there(key)
    files = files_of(key)
    documents = list(joined(_held(key, files, column)))
    if len(files) == 1 and len(documents) > 1 and is_list(documents):
        return Corpus(path.stem, documents, separator="\n")
    return Corpus(path.stem, documents)


def _held(source: str, files: Sequence[Path], column: str) -> Iterator[Piece]:
    """The pieces of files that are held together. Raises ValueError where they are too large."""
    too_large = ValueError(f"{source!r} holds more than {LIMIT:,} characters, the limit")
    if sum(file.stat().st_size for file in files if file.is_file()) > LIMIT:
        raise too_large
    characters = 0
    for file in files:
        for piece in read_pieces(file, column):
            characters += len(piece.text)
            if characters > LIMIT:
                raise too_large
            yield piece


def corpus_file(name_or_path: str | Path) -> Path | None:
    """Return where a corpus lies on the disk, once it was loaded; None for a generated one."""
    key = str(name_or_path)
    if key in DOWNLOADS:
        return cache_folder() / DOWNLOADS[key].file_name
    return CORPORA[key].file if key in CORPORA else Path(name_or_path).resolve()


def check_there(source: str) -> None:
    """Raise ValueError for what is no path and no pattern."""
    if len(source) > 1000 or not (_exists(Path(source)) or has_magic(source)):
        listed = ", ".join(CORPORA)
        short = source if len(source) <= 80 else source[:80] + "…"
        raise ValueError(f"no corpus and no file {short!r}; the corpora are {listed}")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # a name that no file system takes
        return False


def corpus_from_text(text: str, name: str = "your text") -> Corpus:
    """Cut a text into documents by the rule of `corpus.pieces`."""
    documents = list(joined(pieces_of(lambda: [text])))
    if ENDOFTEXT not in text and len(documents) > 1:
        return Corpus(name, documents, separator="\n")
    return Corpus(name, documents)


def _tiny_world(
    *, characters: int | None, seed: int, options: WorldOptions | None, progress: bool
) -> Corpus:
    characters = TINY_WORLD_CHARACTERS if characters is None else characters
    if characters < 1:
        raise ValueError(f"tiny-world needs at least 1 character; got characters={characters}")
    from tqdm import tqdm

    documents: list[str] = []
    look = {"desc": "tiny-world", "unit": " characters", "unit_scale": True, "leave": False}
    with tqdm(total=characters, disable=None if progress else True, **look) as bar:
        for document in generate(characters=characters, seed=seed, options=options):
            documents.append(document.text)
            bar.update(len(document.text))
    return Corpus("tiny-world", documents)


def _bundled(name: str, description: str, file_name: str, separator: str | None) -> CorpusEntry:
    """The entry of a text in the data folder."""
    file = DATA / file_name
    return CorpusEntry(name, description, True, partial(_read, name, file, separator), file)


def _read(name: str, file: Path, separator: str | None, **_: object) -> Corpus:
    text = read_text_file(file, LIMIT)
    if separator is None:
        return Corpus(name, [text])
    documents = [part for part in text.rstrip("\n").split(separator) if part]
    return Corpus(name, documents, separator)


def _pairs(*, seed: int, **_: object) -> Corpus:
    return load_pairs(seed=seed)


def _downloaded(name: str, separator: str | None, *, progress: bool, **_: object) -> Corpus:
    text = read_text_file(fetch(name, progress=progress), LIMIT)
    documents = [text] if separator is None else text.rstrip("\n").split(separator)
    return Corpus(name, documents, separator or "\n\n")


def _entries() -> Iterator[CorpusEntry]:
    yield CorpusEntry(
        "tiny-world",
        "short stories from a grammar whose best possible loss is known, any size from a seed",
        True,
        _tiny_world,
    )
    yield _bundled(
        "tiny-world-sample",
        "the first megabyte of tiny-world (seed 0), read from the disk",
        "tiny-world.txt",
        "\n\n",
    )
    yield _bundled(
        "names",
        "given names, well known and made up by rule, one a line",
        "names.txt",
        "\n",
    )
    yield _bundled(
        "names-counts",
        "how often each letter follows each other in 32,033 given names: a 27 × 27 table",
        "names-counts.csv",
        "\n",
    )
    yield CorpusEntry(
        "pairs",
        "English sentences and their translation into an invented language, word by word known",
        True,
        _pairs,
    )
    yield _bundled(
        "word-forms",
        "short sentences in which stems meet endings often: token, tokens, tokenization",
        "word-forms.txt",
        "\n",
    )
    yield _bundled(
        "story",
        "an original story about someone who teaches a machine to read",
        "story.txt",
        None,
    )
    lines = {"names-ssa": "\n"}
    described = {
        "names-ssa": "32,033 given names of the United States, 2018 (download, 228 kB)",
        "tinyshakespeare": "1.1 million characters of Shakespeare's plays (download, 1.1 MB)",
        "the-verdict": "a short story by Edith Wharton, 1908 (download, 20 kB)",
    }
    for name in DOWNLOADS:
        yield CorpusEntry(name, described[name], False, partial(_downloaded, name, lines.get(name)))


CORPORA = {entry.name: entry for entry in _entries()}
"""Every corpus with a name: `.description`, and whether it is bundled or a download."""
