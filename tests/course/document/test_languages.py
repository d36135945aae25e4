"""A number, a share, a list and a count as each language writes them; English as before."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest

from llmviz.course.components._shared.bundle import COMPONENTS
from llmviz.course.components._shared.transport import translations
from llmviz.course.components.words import words
from llmviz.course.document import Sentence, languages, texts_of
from llmviz.course.document.translated import leaves
from llmviz.course.document.values import Translated
from llmviz.course.ui.common import count, listed, percent, power_of_ten, signed
from llmviz.course.ui.prose import STYLE, quote, to_html
from llmviz.course.ui.question import Question, whole_percent

WRITTEN = {
    "en": ["−1,234.50", "12.5\xa0%", "52\xa0%", "−1.50", "4.2·10²³", "MLP, RNN and GPT", "1,200"],
    "es": ["−1.234,50", "12,5\xa0%", "52\xa0%", "−1,50", "4,2·10²³", "MLP, RNN y GPT", "1.200"],
    "zh": ["−1,234.50", "12.5%", "52%", "−1.50", "4.2·10²³", "MLP、RNN 和 GPT", "1,200"],
}


@pytest.mark.parametrize("language", WRITTEN)
def test_what_is_computed_is_written_as_the_language_writes_it(language, monkeypatch):
    monkeypatch.setattr(languages, "_asks", lambda: language)
    kind = Sentence if language == "en" else Translated
    assert [
        kind("{x:,.2f}").format(x=-1234.5),
        percent(0.125),
        whole_percent(0.518),
        signed(-1.5),
        power_of_ten(4.2e23),
        listed(["MLP", "RNN", "GPT"]),
        Question.among("?", {1200: "", 1: ""}, 1200).answers[0],
    ] == WRITTEN[language]
    assert kind("{name}").format(name="1,234.5") == "1,234.5"  # a text is no number


def test_a_quotation_from_right_to_left_stays_where_its_sentence_has_it(monkeypatch):
    monkeypatch.setattr(languages, "_asks", lambda: "es")
    html = to_html(Translated("Escribiste {text} y {n} más.").format(text=quote("שלום abc"), n=1.5))
    assert html == "<p>Escribiste <code>שלום abc</code> y 1,5 más.</p>"
    assert "code { unicode-bidi: isolate;" in STYLE  # of marks around it: none


def test_a_share_has_its_article_in_spanish_but_not_before_less_than(monkeypatch):
    monkeypatch.setattr(languages, "_asks", lambda: "es")
    said = Translated("Baja del {one} al {two}, y queda un {two}.")
    line = said.format(one=percent(0.2), two=percent(1e-6))
    assert line.replace("\xa0", " ") == (
        "Baja del 20,0 % a menos del 0,01 %, y queda menos del 0,01 %."
    )
    assert said.format(one=percent(0.3), two=percent(0.1)).endswith("queda un 10,0\xa0%.")


def test_a_chinese_list_has_spaces_beside_latin_letters_alone(monkeypatch):
    monkeypatch.setattr(languages, "_asks", lambda: "zh")
    assert languages.joined(["猫", "狗"]) == "猫和狗"
    assert languages.joined(["猫", "17.3", "狗"]) == "猫、17.3 和狗"
    assert languages.joined([quote("a"), quote("b")]) == f"{quote('a')} 和 {quote('b')}"
    assert languages.joined(["一"]) == "一" and languages.joined([]) == ""


def test_sentences_follow_each_other_as_the_language_sets_them(monkeypatch):
    monkeypatch.setattr(languages, "_asks", lambda: "zh")
    assert languages.run_on(["它对了。", "下一个是 a b。"]) == "它对了。下一个是 a b。"
    monkeypatch.setattr(languages, "_asks", lambda: "es")
    assert languages.run_on(["Es así.", "Y sigue."]) == "Es así. Y sigue."


def test_a_noun_has_the_form_that_its_number_asks_for(monkeypatch):
    assert [count(n, "token") for n in (1, 1200)] == ["1 token", "1,200 tokens"]
    monkeypatch.setattr(languages, "_asks", lambda: "es")
    forms = {"one": "una ficha", "other": "{n} fichas"}
    assert languages.plural(1, forms) == "una ficha"
    assert languages.plural(2, forms) == languages.plural(10**6, forms) == "{n} fichas"
    assert count(1200, "grommet") == "1.200 grommets"  # no Spanish word is known


SCRIPT = """
import {{ chance, number, percent, short, whole }} from {path};
globalThis.document = {{ documentElement: {{ lang: "{language}" }} }};
const said = [whole(1234), number(-0.5, 2), percent(0.125), chance(0), chance(1), chance(1e-9)];
console.log(JSON.stringify([...said, short(12345)]));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="Node runs the scripts of the pictures")
@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", ["1,234", "−0.50", "12.5 %", "0 %", "100 %", "< 0.01 %", "12.3k"]),
        ("es", ["1.234", "−0,50", "12,5 %", "0 %", "100 %", "< 0,01 %", "12,3k"]),
        ("zh", ["1,234", "−0.50", "12.5%", "0%", "100%", "< 0.01%", "12.3k"]),
    ],
)
def test_pictures_write_numbers_as_the_texts_do(language, said, tmp_path):
    path = tmp_path / "numbers.mjs"
    shutil.copy(COMPONENTS / "_shared" / "numbers.js", path)
    (tmp_path / "run.mjs").write_text(
        SCRIPT.format(path=json.dumps("./numbers.mjs"), language=language), "utf-8"
    )
    done = subprocess.run(
        ["node", str(tmp_path / "run.mjs")], capture_output=True, text=True, check=True
    )
    assert [text.replace("\xa0", " ") for text in json.loads(done.stdout)] == said


SAID = re.compile(r'\bworded\(\s*"([^"]+)"')
# In scripts that say a text by the name of a constant: all texts of these lines.
NAMED = re.compile(
    r"^(?:const (?:PART_LOST|TITLE|GIVEN|FAILED|COPIED|REFUSED|BY_HAND) = |  (?:title|close): )"
    r'"([^"]+)"|^  \["\w+", "([^"]+)", "([^"]+)"\],$',
    re.MULTILINE,
)
OF_PYTHON = {"layer {at}", "head {at}"}  # names that `heads_grid` gives its rows


def test_what_scripts_say_of_their_own_stands_in_their_document():
    found: set[str] = set()
    for path in COMPONENTS.rglob("*.js"):
        source = path.read_text("utf-8")
        found |= set(SAID.findall(source))
        if "worded.js" in source and path.parent.name in ("saver", "_shared"):
            found |= {text for texts in NAMED.findall(source) for text in texts if text}
    document = leaves(texts_of(words, "en"))
    document = {text for path, text in document.items() if not path.startswith("front")}
    assert found | OF_PYTHON == document


def test_pictures_get_their_words_only_where_they_are_not_english(monkeypatch):
    assert translations() == {}
    monkeypatch.setattr(languages, "_asks", lambda: "es")
    assert translations()["click for every term"] == "haz clic para ver todos los términos"


def test_a_chinese_share_has_no_space_where_it_begins_with_a_word(monkeypatch):
    monkeypatch.setattr(languages, "_asks", lambda: "zh")
    said = Translated("Paris 占 {share}。")
    assert said.format(share=percent(1e-6)) == "Paris 占不到 0.01%。"
    assert said.format(share=percent(0.5)) == "Paris 占 50.0%。"
