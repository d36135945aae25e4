"""The lesson on tokens without a browser: what it says is what the library says, whatever is typed.

What the in-page components draw is tested in the browser.
"""

from __future__ import annotations

import csv
import io
import itertools
import json
import socket
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from llmviz.corpus import load_corpus
from llmviz.course.lessons.tokenization import sources
from llmviz.course.lessons.tokenization import words as lesson_words
from llmviz.course.lessons.tokenization.compare import spelled as utf8
from llmviz.course.lessons.tokenization.cut import chapter as cut
from llmviz.course.lessons.tokenization.cut import words as cut_words
from llmviz.course.lessons.tokenization.merge import chapter as merge
from llmviz.course.ui.furniture import words as furniture
from llmviz.course.ui.guess_drawn import words as guess_words
from llmviz.tokenizers import (
    UNKNOWN,
    BPETokenizer,
    Tokenizer,
    download,
    film,
    get_tokenizer,
    load_tokenizer,
    registry,
)
from llmviz.tokenizers.wordpiece import WordPieceTokenizer, alphabet, piece_steps
from tests.pages import harness
from tests.pages.harness import (
    fine,
    messages,
    open_part,
    prose_of,
    run_snippet,
    snippets,
    unpack_all,
)

PARTS = ["cut", "compare", "learn", "merge"]
ODD_TEXTS = {
    "empty": "",
    "one character": "a",
    "spaces": "     ",
    "line ends": "\r\n\r\n\t",
    "NUL": "a\x00b",
    "special": "The end.<|endoftext|>Once <|unk|> <|pad|>",
    "script": "<script>document.title='x'</script><img src=x onerror=alert(1)>",
    "markdown": "![x](http://a) $x$ :red[y] `c` {braces} **b** [[token]]",
    "joined emoji": "👩‍🚀e\u0301\u202e",
    "one word": "x" * 3_000,
}
BPE = get_tokenizer("bpe")
TEXT = some.text(alphabet=some.characters(exclude_categories=["Cs"]), max_size=60)


# ---- whatever is typed


@pytest.mark.parametrize("part", PARTS)
def test_odd_texts_break_nothing_and_stay_in_the_box(part):
    app = open_part("tokenization", part, corpus="text", sample="own")
    for name, text in ODD_TEXTS.items():
        app.text_area[0].set_value(text).run()
        fine(app)
        assert app.text_area[0].value == text, name
        for snippet, prints in snippets(app):
            assert run_snippet(snippet).strip() == prints.strip(), name


def test_an_empty_text_gets_one_clear_line():
    for part in ("cut", "compare"):
        app = open_part("tokenization", part, text="")
        app.text_area[0].set_value("").run()
        assert furniture.empty_text in messages(app), part


@pytest.mark.parametrize("part", PARTS)
def test_five_megabytes_are_cut_where_they_are_drawn_and_the_page_says_so(part):
    text = "The cat sat on the mat. 🙂\n" * 190_000
    app = open_part("tokenization", part, corpus="text")
    app.text_area[0].set_value(text).run()
    fine(app)
    assert app.text_area[0].value == text
    said_so = " ".join(messages(app))
    assert "too long for a link" in said_so
    if part != "merge":
        assert f"{len(text):,} characters" in said_so


# ---- cut


def test_counts_are_the_tokenizers_own_and_the_table_counts_every_token():
    text = "naïve tokenization 🙂 the cat and the dog"
    app = open_part("tokenization", "cut", text=text, tokenizer="char")
    ids = get_tokenizer("char").encode(text)
    assert f"You see {len(text)} characters. The model gets {len(ids)} numbers" in prose_of(app)
    table = app.dataframe[0].value
    assert dict(zip(table["id"], table[cut_words.columns["count"]], strict=True)) == Counter(ids)


def test_typed_ids_are_decoded_or_refused_in_one_line():
    ids = BPE.encode("the cat")
    app = open_part("tokenization", "cut", ids=", ".join(map(str, ids)))
    assert "the cat" in [block.value for block in app.code]
    wrong = {one: f"token id {one} is out of range" for one in ("1024", "-1", "9" * 20)}
    for typed, line in (wrong | {"12 cat": "'cat' is not an id"}).items():
        app = open_part("tokenization", "cut", ids=typed)
        fine(app)
        assert len(app.error) == 1 and line in messages(app)[0]


@given(some.lists(some.integers(0, 10_000)))
def test_ids_are_read_with_spaces_and_commas(ids):
    assert cut.read_ids(" ".join(map(str, ids))) == ids
    assert cut.read_ids(",".join(map(str, ids))) == ids


def test_special_tokens_are_read_only_when_allowed():
    text = "a<|endoftext|>b"
    plain = open_part("tokenization", "cut", text=text)
    special = open_part("tokenization", "cut", text=text, special="1")
    assert f"{len(BPE.encode(text))} numbers" in prose_of(plain)
    assert f"{len(BPE.encode(text, 'all'))} numbers" in prose_of(special)
    assert len(BPE.encode(text, "all")) == 3


def test_the_whole_vocabulary_can_be_paged_and_saved_and_no_token_is_a_formula():
    app = open_part("tokenization", "cut", table="all", **{"from": "1000"})
    assert list(app.dataframe[0].value["id"]) == list(range(1000, BPE.vocab_size))
    saved = cut.as_csv(BPE, range(BPE.vocab_size), Counter()).decode("utf-8")
    names, *rows = csv.reader(io.StringIO(saved, newline=""))
    assert names == list(cut_words.columns.values()) and len(rows) == BPE.vocab_size
    texts = [row[2] for row in rows]
    assert "'=" in texts and not any(text[:1] in tuple("=+-@\t\r") for text in texts if text)


def test_a_saved_tokenizer_loads_and_gives_the_same_ids(tmp_path):
    path = tmp_path / "saved.json"
    path.write_bytes(sources.file_of(BPE))
    assert load_tokenizer(path).encode("the cat 🙂") == BPE.encode("the cat 🙂")


def test_a_loaded_tokenizer_can_be_chosen():
    mine = BPETokenizer.train("low lower lowest " * 5, 262)
    app = open_part("tokenization", "cut", text="lower")
    app.file_uploader[0].set_value(("t.json", sources.file_of(mine), "application/json")).run()
    fine(app)
    assert not app.error
    assert app.selectbox[0].value == "loaded"
    assert f"{len(mine.encode('lower'))} number" in prose_of(app)
    # The window holds the file; a tokenizer, which takes ten times as much, is kept for all.
    held = app.session_state[sources._FILE_SLOT]
    assert held[1] == sources.file_of(mine) and not any(isinstance(one, Tokenizer) for one in held)


def test_damaged_tokenizer_files_are_refused_in_one_line():
    good = sources.file_of(BPE)
    content = json.loads(good)
    content["merges"][0] = [97, 98]
    damaged = {
        "changed after it was saved": json.dumps(content).encode(),
        "JSON breaks": good[: len(good) // 2],
        "not UTF-8": b"\xff\xfe\x00",
        "no tokenizer file": b"{}",
        "the limit is": b" " * (sources.TOKENIZER_FILE_LIMIT + 1),
    }
    app = open_part("tokenization", "cut", text="still here")
    for reason, data in damaged.items():
        app.file_uploader[0].set_value(("t.json", data, "application/json")).run()
        fine(app)
        assert len(app.error) == 1, reason
        lines = messages(app)[0]
        assert reason in lines or "not a tokenizer file" in lines, (reason, lines)
        assert app.text_area[0].value == "still here"


def test_a_link_to_a_tokenizer_file_says_that_it_is_not_here():
    app = open_part("tokenization", "cut", tokenizer="loaded")
    fine(app)
    assert lesson_words.no_file in messages(app)[0]


# ---- compare


def test_the_box_of_compare_holds_the_text_of_its_picture_before_and_after_typing():
    app = open_part("tokenization", "compare")

    def drawn() -> str:
        return "".join(unpack_all(app, "token_strip")[0]["characters"]).replace("·", " ")

    (box,) = (area for area in app.text_area if area.label == "Your text")
    assert box.value == drawn()
    box.set_value("Two boys").run()
    fine(app)
    (box,) = (area for area in app.text_area if area.label == "Your text")
    assert box.value == drawn() == "Two boys"
    assert app.session_state["shared.text"] == "Two boys"


@pytest.mark.parametrize(
    ("part", "link"), [("compare", {"rows": "bpe,gpt2,char"}), ("cut", {"tokenizer": "gpt2"})]
)
def test_without_a_network_the_bundled_bpe_cuts_and_it_is_said(monkeypatch, part, link):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    monkeypatch.setattr(registry, "_loaded", {})
    app = open_part("tokenization", part, **link)
    fine(app)
    (line,) = [line for line in messages(app) if "gpt2 is not available" in line]
    assert ("The bundled BPE" in line) == (part != "compare")  # whose other rows are there


def test_what_cannot_be_had_for_one_reason_is_one_message(monkeypatch, tmp_path):
    def unreachable(*args, **kwargs):
        raise OSError("no network in this test")

    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(registry, "_loaded", {})
    monkeypatch.setattr(download, "_transfers", {})
    monkeypatch.setattr(socket, "getaddrinfo", unreachable)
    app = open_part("tokenization", "compare", rows="gpt2,bpe,cl100k_base,o200k_base")
    fine(app)
    (line,) = [line for line in messages(app) if "not available" in line]
    assert line.startswith("gpt2, cl100k_base and o200k_base are not available")
    assert str(tmp_path) not in line


def test_an_example_stands_there_until_somebody_writes_and_boys_fall_into_a_hole():
    by_word = get_tokenizer("word")
    number = f"{by_word.special_tokens[UNKNOWN]:,}"
    app = open_part("tokenization", "compare")
    assert "<code>boys</code> and <code>🙂</code> are not on the list" in prose_of(app)
    assert f"number {number}" in prose_of(app)
    told = prose_of(open_part("tokenization", "compare", text="a boy, two boys", rows="bpe,word"))
    assert "<code>boys</code> is not on the list" in told
    assert "No row has a hole" in prose_of(open_part("tokenization", "compare", rows="bpe"))


def test_an_old_link_to_the_list_of_words_opens_what_has_it_now():
    app = open_part(
        "tokenization", "vocabulary", text="the cat saw the Cat .", sentence="the dog saw"
    )
    fine(app)
    assert not app.warning
    told = prose_of(app)
    assert "Yours has 8 lines, because 3 special tokens more stand at its end" in told
    assert "<code>dog</code> is not on this list" in told and "the &lt;|unk|&gt; saw" in told
    old = open_part("tokenization", "compare", words="boy boys dinosaur")
    assert not old.warning and "<code>boys</code> is not on the list" in prose_of(old)


# ---- learn


@pytest.mark.parametrize("size", ["0", "256"])
def test_a_vocabulary_without_room_for_the_bytes_is_refused(size):
    app = open_part("tokenization", "learn", size=size)
    fine(app)
    rule = f"vocab_size must be at least 257 (256 bytes and 1 special tokens); got {size}"
    assert rule in messages(app)[0]


def test_a_vocabulary_beyond_the_corpus_stops_and_says_how_many_merges_there_were():
    corpus = "low lower lowest"
    app = open_part("tokenization", "learn", corpus="own", own=corpus, size="1024")
    merges = len(BPETokenizer.train(corpus, 1024).merges)
    assert any(f"stopped after {merges} merges" in line for line in messages(app))


def text_area(app, *, own: bool):
    return next(one for one in app.text_area if (one.label != "Your text") == own)


def test_a_corpus_without_a_pair_and_an_empty_one_get_one_line_each():
    app = open_part("tokenization", "learn", corpus="own", own="a")
    fine(app)
    assert any("no two neighbours" in line for line in messages(app))
    text_area(app, own=True).set_value("   ").run()
    fine(app)
    assert any("is empty" in line for line in messages(app))


def test_an_uploaded_corpus_is_trained_on_and_a_bad_one_refused():
    app = open_part("tokenization", "learn", corpus="own", text="still here")
    app.file_uploader[0].set_value(("a.txt", b"fast faster fastest", "text/plain")).run()
    fine(app)
    assert text_area(app, own=True).value == "fast faster fastest"
    bad = {
        "not UTF-8": b"caf\xe9 au lait",
        "binary": b"\x89PNG\x00\x01",
        "the limit is": b"a" * (sources.CORPUS_LIMIT + 1),
        "UTF-16": "hello".encode("utf-16"),
    }
    for reason, data in bad.items():
        app.file_uploader[0].set_value(("a.txt", data, "text/plain")).run()
        fine(app)
        assert len(app.error) == 1 and reason in messages(app)[0], reason
        assert text_area(app, own=True).value == "fast faster fastest"
        assert text_area(app, own=False).value == "still here"


def test_a_film_follows_another_text_without_training_again():
    documents = ["low lower lowest newer newest wider"] * 3
    sample = "the lowest 🙂"
    followed = film(documents, "", 280).following(sample)
    assert followed.nodes == film(documents, sample, 280).nodes
    assert followed.sample == sample


def test_the_film_is_the_training():
    documents = load_corpus("tiny-world-sample").documents
    merges = list(BPETokenizer.train_steps(documents, 300))
    app = open_part("tokenization", "learn", size="300", step="7")
    assert f"After 7 merges of {len(merges)}" in prose_of(app)
    assert f"{merges[6].corpus_length_after:,} tokens: " in prose_of(app)


def test_a_trained_tokenizer_is_used_by_the_other_chapters():
    corpus = "low lower lowest low low new newer newest"
    mine = BPETokenizer.train(corpus, 270)
    link = {"corpus": "own", "own": corpus, "size": "270", "tokenizer": "trained"}
    app = open_part("tokenization", "cut", text="lowest newest", **link)
    fine(app)
    assert f"{len(mine.encode('lowest newest'))} numbers" in prose_of(app)
    for snippet, prints in snippets(app):
        assert run_snippet(snippet).strip() == prints.strip()


def test_the_slider_of_stems_follows_the_word_forms():
    app = open_part("tokenization", "learn", stems="120")
    fine(app)
    (payload,) = [p for p in harness.unpack_all(app, "token_strip") if len(p["rows"]) == 7]
    pieces = {row["name"]: list(row["texts"]) for row in payload["rows"]}
    assert pieces["tokens"] == ["·token", "s"] and pieces["boys"] == ["·boy", "s"]
    assert pieces["tokenization"] == ["·token", "ization"]
    assert pieces["modernization"] == ["·modern", "ization"]


# ---- WordPiece


def test_wordpiece_shows_what_its_rule_learns():
    app = open_part("tokenization", "merge", joins="100", forms="boys tokens")
    fine(app)
    documents = load_corpus("word-forms").documents
    steps = list(itertools.islice(piece_steps(documents, 10_000), 101))
    pieces = dict.fromkeys(step.piece for step in steps[:100])
    mine = WordPieceTokenizer([*alphabet(documents), *pieces])
    (payload,) = harness.unpack_all(app, "token_strip")
    assert list(payload["rows"][0]["ids"]) == mine.encode("boys tokens")
    assert f"made is <code>{steps[99].piece}</code>" in prose_of(app)


def test_an_unknown_word_is_said_and_two_texts_get_their_marks():
    app = open_part("tokenization", "merge", forms="tokens zebrä")
    fine(app)
    assert "cannot cut <code>zebrä</code>" in prose_of(app)
    marks = next(block.value for block in app.code if block.value.startswith("[CLS]"))
    names, ids = marks.splitlines()
    assert names.count("[SEP]") == 2 and len(names.split()) == len(ids.split()) == 24


# ---- merge


@settings(max_examples=60, deadline=None)
@given(TEXT)
def test_each_merge_of_the_tree_is_the_candidate_of_lowest_rank(text):
    for piece in BPE.pretokenize(text):
        tree = BPE.merge_tree(piece)
        listed = merge.candidates(tree, BPE)
        made = tree.nodes[len(tree.piece) :]
        assert len(listed) == len(made) + 1
        for node, pairs in zip(made, listed, strict=False):
            ranks = [rank for _, rank in pairs if rank is not None]
            assert node.rank == min(ranks)
            assert (node.left, node.rank) in pairs
        assert all(rank is None for _, rank in listed[-1])


def test_a_word_with_borders_inside_shows_its_pieces_and_one_that_is_not_there_is_said():
    app = open_part("tokenization", "merge", word="it's 42", piece="9")
    fine(app)
    pieces = BPE.pretokenize(" it's 42")
    assert f"cut into {len(pieces)} pieces" in prose_of(app)
    assert "piece = 9 does not exist here" in messages(app)[0]


# ---- bytes


@given(TEXT)
def test_bytes_and_characters_cover_the_text_without_gap(text):
    data = text.encode("utf-8")
    for tokens in (utf8.bytes_of(text), utf8.signs_of(text)):
        assert b"".join(token.data for token in tokens) == data
        assert [token.byte_start for token in tokens] == [0, *(t.byte_end for t in tokens)][:-1]
        for token in tokens:
            assert token.data in text[token.char_start : token.char_end].encode("utf-8")


def test_borders_inside_characters_are_counted():
    text = "aé🙂"
    assert utf8.cut_inside(text, utf8.signs_of(text)) == 0
    assert utf8.cut_inside(text, utf8.bytes_of(text)) == 2


def test_two_ways_of_writing_one_letter_are_different_signs():
    app = open_part("tokenization", "compare", sample="accents")
    signs = harness.unpack_all(app, "token_strip")[-1]["rows"][0]
    codes = [dict(card)[utf8.words.code_point] for card in signs["details"]]
    assert codes == ["U+00E9", "U+0020", "U+0065", "U+0301"]


# ---- the whole lesson


def test_a_link_restores_every_control():
    link = {"text": "a <b>link</b>", "tokenizer": "char", "corpus": "names", "size": "512"}
    link |= {"step": "33", "follow": "anna", "word": "banana", "space": "0", "sample": "hangul"}
    link |= {"rows": "char,bpe", "special": "1", "token": "3", "ids": "1 2", "table": "all"}
    app = open_part("tokenization", "cut", **link)
    fine(app)
    assert not app.warning
    address = {key: "".join(value) for key, value in dict(app.query_params).items()}
    assert address == link | {"part": "cut"}


def test_every_question_has_one_right_answer_and_a_reason_for_each():
    app = open_part("tokenization", "merge")  # the others are answered on pictures
    assert app.radio
    for at in range(len(app.radio)):
        right = 0
        for answer in range(len(app.radio[at].options)):
            app.radio[at].set_value(answer).run()
            fine(app)
            right += len(app.success)
            assert len(app.success) + len(app.error) == 1
            harness.press(app, guess_words.again)
        assert right == 1
