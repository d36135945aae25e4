"""A translation holds for the English that it was made from, and is known to be stale else."""

from __future__ import annotations

import re

import polib
import pytest

from llmviz.cli import main
from llmviz.course.document import Document, languages, texts_of, translated
from llmviz.course.document.languages import COMPLETE, LANGUAGES
from llmviz.course.document.marks import TERM_SPAN
from llmviz.course.document.po import export, take_back
from llmviz.course.document.read import DocumentError, Reader, read
from llmviz.course.document.translated import (
    Translation,
    documents,
    leaves,
    markdown,
    name_of,
    translations,
)

ENGLISH = """---
title: Counting
minutes: 25
---

# What can a table know?

## Pairs of {names:,} {#pairs}

A table of **counts**.

hook
:   The loss of {name} is {loss:.2f}.

known
:   - `yes`: It is in the list.
    - `no`: It is new.

### Predict {#ask_row}

How many are there?

- [ ] {n}

  Too few.

- [x] As many as rows

  One for each row.
"""
SPANISH = """---
title: Contar
---

# ¿Qué puede saber una tabla?

hook
:   {loss:.2f} es la pérdida de {name}.

known
:   - `yes`: Está en la lista.

### Predict {#ask_row}

¿Cuántos hay?

- [ ] {n}

  Muy pocos.

- [x] Tantos como filas

  Uno por fila.
"""


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of one document and its Spanish one, accepted as it is."""
    monkeypatch.setattr(translated, "COURSE", tmp_path)
    (tmp_path / "chapter.md").write_text(ENGLISH, "utf-8")
    (tmp_path / "chapter.es.md").write_text(SPANISH, "utf-8")
    assert main(["language", "accept", "es"]) == 0
    return tmp_path


def change(path, old, new):
    source = path.read_text("utf-8")
    assert old in source
    path.write_text(source.replace(old, new), "utf-8")


def status(capsys, *given):
    capsys.readouterr()
    assert main(["language", "status", *given]) == 0
    return capsys.readouterr().out


def spanish(course, monkeypatch):
    monkeypatch.setattr(languages, "_asks", lambda: "es")
    return Document(course / "chapter.md")


def test_what_holds_is_shown_and_what_is_missing_is_english(course, monkeypatch, capsys):
    words = spanish(course, monkeypatch)
    assert words.front == ("Contar", 25, "¿Qué puede saber una tabla?")
    assert words.hook.format(name="Ana", loss=1) == "1,00 es la pérdida de Ana."
    assert words.known == {True: "Está en la lista.", False: "It is new."}
    assert words.ask_row.right == 1 and list(words.ask_row.answers) == ["{n}", "Tantos como filas"]
    assert words.pairs.title == "Pairs of {names:,}"
    assert status(capsys, "es") == "es  chapter  3 of 12 texts  missing\n"
    missing = [line.split()[2] for line in status(capsys, "es", "--all").splitlines()]
    assert missing == ["pairs/title", "pairs/text", "known/no"]
    (course / "home").mkdir()
    (course / "home" / "lesson.md").write_text("---\ntitle: Names\n---\n", "utf-8")
    assert "home/lesson" in status(capsys, "es", "--all")
    assert status(capsys, "es", "chapter") == "es  chapter  3 of 12 texts  missing\n"
    assert status(capsys, "es", "home", "--all") == "es  home/lesson  front/title  missing\n"
    assert main(["language", "status", "es", "hom"]) == 2
    assert "there is no document 'hom'" in capsys.readouterr().err
    monkeypatch.setattr(languages, "_asks", lambda: "xx")
    assert words.front.title == "Counting" and "xx" not in words._texts


@pytest.mark.parametrize(
    ("old", "new", "stale"),
    [
        ("The loss of {name}", "The mean loss of {name}", "hook"),
        ("The loss of {name} is {loss:.2f}.", "The loss is {loss:.2f}.", "hook"),
        ("It is in the list.", "It is listed.", "known/yes"),
        ("# What can a table know?", "# What does a table know?", "front/question"),
        ("As many as rows", "As many as there are rows", "ask_row/1"),
    ],
)
def test_a_changed_english_sentence_makes_its_translation_stale_and_named(
    course, monkeypatch, capsys, old, new, stale
):
    path = course / "chapter.md"
    change(path, old, new)
    named = [line for line in status(capsys).split("\n") if line.endswith("stale")]
    assert [line.split() for line in named] == [["es", "chapter", stale, "stale"]]
    assert leaves(texts_of(spanish(course, monkeypatch)))[stale] == leaves(read(path))[stale]
    Translation(course / "chapter.es.md", read(path)).check()  # no reason not to start
    if "{name}" in new or "{" not in new:
        assert main(["language", "accept", "es", f"chapter:{stale.split('/')[0]}"]) == 0
        assert "stale" not in status(capsys)


def test_accepted_is_each_text_that_is_named_and_no_other(course, capsys):
    """By the name that `status` gives it; one that is not there is refused."""
    english, spanish = course / "chapter.md", course / "chapter.es.md"
    for old in ("The loss of {name}", "It is in the list.", "As many as rows"):
        change(english, old, f"Today: {old}")
    before = spanish.read_text("utf-8")
    for name in ("hooks", "known/si", "pairs"):
        assert main(["language", "accept", "es", "chapter:hook", f"chapter:{name}"]) == 2
        assert repr(name) in capsys.readouterr().err and spanish.read_text("utf-8") == before
    assert main(["language", "accept", "es", "chapter:hook", "chapter:known/yes"]) == 0
    stale = [line.split()[2] for line in status(capsys, "es").splitlines() if "stale" in line]
    assert stale == ["ask_row/1"]


def test_a_form_that_a_language_does_not_have_is_not_missed(course, capsys):
    forms = "counts\n:   - `one`: {n} token\n    - `other`: {n} tokens\n"
    (course / "chapter.md").write_text(f"{ENGLISH}\n{forms}", "utf-8")
    chinese = "counts\n:   - `other`: {n} 个\n"
    (course / "chapter.zh.md").write_text(chinese, "utf-8")
    main(["language", "accept", "zh"])
    missing = [line.split()[2] for line in status(capsys, "zh", "--all").splitlines()]
    assert "known/no" in missing and not any("counts" in path for path in missing)
    assert "counts/one" in status(capsys, "es", "--all")


def test_what_english_has_no_more_is_passed_over(course):
    change(course / "chapter.md", "hook\n:   The loss of {name} is {loss:.2f}.", "")
    Translation(course / "chapter.es.md", read(course / "chapter.md")).check()


def test_a_text_moved_in_a_list_is_not_shown_for_another(course, monkeypatch):
    for name, said in (("chapter.md", ("One", "Two")), ("chapter.es.md", ("Uno", "Dos"))):
        source = (course / name).read_text("utf-8")
        (course / name).write_text(
            f"{source}\nsteps\n:   - {said[0]}\n    - {said[1]}\n", encoding="utf-8"
        )
    main(["language", "accept", "es"])
    change(course / "chapter.md", "- One\n    - Two", "- Two\n    - One")
    assert spanish(course, monkeypatch).steps == ("Two", "One")


@pytest.mark.parametrize(
    ("old", "new", "line", "rule"),
    [
        ("de {name}", "de {nombre}", 7, r"'hook' has no slot {nombre}"),
        ("{loss:.2f} es la", "Es la", 7, r"the slot {loss} of the English text 'hook' is missing"),
        ("de {name}", "[de](look: t=1) {name}", 7, "'hook' has no look to 't=1'"),
        ("de {name}", "de {name", 7, "expected '}' before end of string"),
        ("hook\n", "hok\n", 7, "the English document has no text named 'hok'"),
        ("`yes`", "`si`", 10, "the English document has no text named 'known/si'"),
        ("hook: ", "hook: 12 ", 26, "a name and its hashes"),
    ],
)
def test_a_wrong_translation_is_refused_with_its_line(course, capsys, old, new, line, rule):
    path = course / "chapter.es.md"
    source = path.read_text("utf-8")
    if "hashes" not in rule:
        source = source.partition("<!--")[0]
    path.write_text(source.replace(old, new, 1), "utf-8")
    with pytest.raises(DocumentError) as wrong:
        Translation(path, read(course / "chapter.md")).check()
    assert f"chapter.es.md, line {line}: " in str(wrong.value) and rule in str(wrong.value)
    assert main(["language", "accept", "es"]) == 2 and rule in capsys.readouterr().err


def test_a_po_file_brings_back_what_was_exported(course, tmp_path, capsys):
    change(course / "chapter.md", "It is in the list.", "It is listed.")
    path, before = tmp_path / "es.po", leaves(read(course / "chapter.es.md"))
    assert export("es", path) == 11
    entries = {entry.msgctxt: entry for entry in polib.pofile(str(path))}
    assert entries["chapter:known/yes"].flags == ["fuzzy"]
    assert entries["chapter:hook"].flags == ["python-brace-format"]
    assert take_back(path) == [course / "chapter.es.md"]
    assert leaves(Reader(course / "chapter.es.md").texts) == before
    assert take_back(path) == []
    file = polib.pofile(str(path))
    for entry in file:
        if entry.msgctxt in ("chapter:known/no", "chapter:known/yes"):
            entry.msgstr, entry.flags = "Es nuevo: «שלום»", []
    file.save()
    assert main(["language", "import", str(path)]) == 0
    known = Translation(course / "chapter.es.md", read(course / "chapter.md"))
    assert known.texts()["known"] == {True: "Es nuevo: «שלום»", False: "Es nuevo: «שלום»"}
    assert [path for path, _ in known.open()] == ["pairs/title", "pairs/text"]


def test_an_old_po_file_says_nothing_of_new_english(course, tmp_path, capsys):
    path = tmp_path / "es.po"
    export("es", path)
    change(course / "chapter.md", "The loss of {name}", "The mean loss of {name}")
    take_back(path)
    assert status(capsys, "es").count("stale") == 1


@pytest.mark.parametrize(
    ("context", "text", "rule"),
    [
        ("chapter:hook", "La {loss} de {name} y {otro}", "has no slot {otro}"),
        ("chapter:hook", "La pérdida de {name}", "the slot {loss} of the English text 'hook'"),
        ("chapter:nothing", "", "chapter has no text named 'nothing'"),
        ("nothing:hook", "", "there is no document 'nothing'"),
        ("chapter:front/title", "Uno\nminutes: dos", "minutes is a whole number"),
    ],
)
def test_a_wrong_po_file_is_refused_whole_with_its_line(course, tmp_path, context, text, rule):
    path = tmp_path / "es.po"
    export("es", path)
    file = polib.pofile(str(path))
    places = [context, "chapter:known/yes"]  # the second takes the place of one that is none
    entry = min((e for e in file if e.msgctxt in places), key=lambda e: places.index(e.msgctxt))
    entry.msgctxt, entry.msgstr = context, text or entry.msgstr
    first = next(entry for entry in file if entry.msgctxt == "chapter:pairs/text")
    first.msgstr = "Una tabla."
    file.save()
    before = (course / "chapter.es.md").read_bytes()
    with pytest.raises(DocumentError, match=r"es\.po, line \d+: ") as wrong:
        take_back(path)
    assert rule in str(wrong.value) and (course / "chapter.es.md").read_bytes() == before


@pytest.mark.parametrize("path", documents(), ids=name_of)
def test_every_document_can_be_written_as_it_is_read(path, tmp_path):
    own = {place: text for place, text in leaves(read(path)).items() if text}
    again = tmp_path / "again.md"
    again.write_text(markdown(read(path), own, {}), "utf-8")
    assert {place: text for place, text in leaves(read(again)).items() if text} == own


@pytest.mark.parametrize(
    ("path", "english"), translations(), ids=lambda path: path.name if path else ""
)
def test_every_translation_fits_its_english(path, english):
    Translation(path, read(english)).check()


@pytest.mark.parametrize("language", sorted(COMPLETE))
def test_a_complete_language_has_every_text_of_its_documents(language):
    known = {name_of(path): path for path in documents()}
    for name in COMPLETE[language]:
        path = known[name]
        translation = Translation(path.with_name(f"{path.stem}.{language}.md"), read(path))
        assert list(translation.open()) == [], f"{name}: see `llmviz language status {language}`"


def test_each_language_of_a_document_has_a_name():
    assert {path.stem.partition(".")[2] for path, _ in translations()} <= set(LANGUAGES)


@pytest.mark.parametrize("language", sorted(COMPLETE))
def test_each_term_that_a_complete_document_links_is_explained_in_its_language(language):
    known = {name_of(path): path for path in documents()}
    glossary = known["glossary/glossary"]
    translation = Translation(glossary.with_name(f"glossary.{language}.md"), read(glossary))
    missing = {path.removeprefix("terms/") for path, _ in translation.open()}
    for name in COMPLETE[language]:
        texts = leaves(read(known[name])).values()
        linked = {match[1] for text in texts for match in TERM_SPAN.finditer(text)}
        assert linked & missing == set(), name


CHINESE = "[\u4e00-\u9fff，。：；？！（）]"


@pytest.mark.parametrize("path", sorted(path for path, _ in translations() if ".zh" in path.name))
def test_chinese_has_its_own_marks_and_no_slanted_characters(path):
    for line in path.read_text("utf-8").partition("<!-- made from")[0].split("\n"):
        assert not re.search(f"{CHINESE}[,;?!]|[,;?!]{CHINESE}|[，。？！] (?!\\{{#|[|])", line), (
            line
        )
        slanted = re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", line)
        assert not any(re.search(CHINESE, text) for text in slanted), line
