"""Sentence pairs: the translation keeps its rules, and the alignment is the true one."""

import pytest

from llmviz.corpus import generate_pairs, language, load_corpus, translate

VERBS = {
    form: forms
    for forms in (*language.TRANSITIVE, *language.INTRANSITIVE)
    for form in forms.split(":")
}
PLURALS = {language.many_of(noun): noun for noun in language.NOUNS}
PAIRS = list(generate_pairs(3000, seed=5))


def test_every_word_is_aligned_with_the_word_it_translates():
    lexicon = language._lexicon()
    for source, target, alignment in PAIRS:
        english, tavin = source.split(), target.split()
        assert [j for _, j in alignment] == list(range(len(tavin)))
        unaligned = set(range(len(english))) - {i for i, _ in alignment}
        assert all(english[i] in ("a", "an") for i in unaligned)
        assert len({i for i, _ in alignment}) == len(alignment)
        for i, j in alignment:
            word = english[i]
            if word == "the":
                assert tavin[j] in ("ta", "to", "tan", "ton")
            elif word in language.NAMES:
                assert tavin[j] == word
            else:
                stem = VERBS.get(word) or PLURALS.get(word) or word
                assert tavin[j].startswith(lexicon[stem]), (word, tavin[j])


def test_every_word_that_was_written_has_its_meaning():
    for source, target, alignment in PAIRS:
        english, tavin = source.split(), target.split()
        for i, j in alignment:
            assert language.meaning(tavin[j]) == english[i]
    assert language.meaning("fox") == language.meaning("") == ""


def test_order_and_agreement():
    lexicon = language._lexicon()
    for source, target, alignment in PAIRS:
        english, tavin = source.split(), target.split()
        to = dict(alignment)
        verb = next(i for i, word in enumerate(english) if word in VERBS)
        assert to[verb] == len(tavin) - 1  # the verb comes last
        many = english[verb - 1] in PLURALS
        assert tavin[-1].endswith(("esin", "akin") if many else ("es", "ak"))
        for i, word in enumerate(english):
            if word in language.ADVERBS:
                assert to[i] == 0
            if word in language.ADJECTIVES:
                assert to[i] == to[i + 1] + 1  # after its noun
                kind = tavin[to[i + 1]].removesuffix("n")[-1]
                assert tavin[to[i]][-1] == {"a": "i", "o": "u"}[kind]
            if word in language.PREPOSITIONS:
                inside = [to[k] for k in range(i + 1, len(english)) if k in to]
                assert to[i] == max(inside) + 1  # behind its phrase
            if word == "the":
                noun = next(
                    k for k in range(i, len(english)) if english[k] in (*language.NOUNS, *PLURALS)
                )
                stem = lexicon[PLURALS.get(english[noun], english[noun])]
                assert tavin[to[i]] == "t" + stem[-1] + tavin[to[noun]].removeprefix(stem)


def test_a_sentence_worked_by_hand():
    lexicon = language._lexicon()
    hen, fox, mill = lexicon["hen"], lexicon["fox"], lexicon["mill"]
    made = translate("often the old foxes count Ada in a mill")
    kind = fox[-1]
    expected = [
        lexicon["often"],
        f"t{kind}n",
        fox + "n",
        lexicon["old"] + ("i" if kind == "a" else "u"),
        mill,
        lexicon["in"],
        "Ada",
        lexicon["counts:count:counted"] + "esin",
    ]
    assert made.target.split() == expected
    assert made.alignment == ((0, 0), (1, 1), (3, 2), (2, 3), (8, 4), (6, 5), (5, 6), (4, 7))
    assert translate("a hen slept").target.split()[0] == hen


def test_no_two_words_are_translated_alike_and_sentences_stay_apart():
    stems = list(language._lexicon().values())
    assert len(set(stems)) == len(stems)
    known = {}
    for source, target, _ in PAIRS:
        bare = " ".join("a" if word == "an" else word for word in source.split())
        assert known.setdefault(target, bare) == bare


def test_sizes():
    sources = [pair.source for pair in PAIRS]
    assert len(set(sources)) == len(sources)
    assert all(4 <= len(source.split()) <= 10 for source in sources)
    corpus = load_corpus("pairs")
    for side in (0, 1):
        vocabulary = {word for pair in corpus.pairs for word in pair[side].split()}
        assert 300 <= len(vocabulary) <= 600
    assert [pair.source for pair in generate_pairs(10, seed=5)] == sources[:10]


def test_splitting_keeps_the_alignments():
    corpus = load_corpus("pairs")
    train, held_out = corpus.split(0.1)
    assert len(held_out.pairs) == len(held_out) == 2000
    assert not {p.source for p in train.pairs} & {p.source for p in held_out.pairs}
    assert next(iter(held_out)) == held_out.pairs[0][:2]
    assert held_out.documents[0] == "\t".join(held_out.pairs[0][:2])


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("", "the end"),
        ("the unicorn sleeps", "'unicorn'"),
        ("a dogs sleep", "'dogs'"),
        ("a actor sleeps", "'actor'"),
        ("the dog sleep", "a verb for one"),
        ("the dog sees", "the end"),
        ("the dog sleeps the cat", "'the'"),
        ("two dog sleep", "'dog'"),
    ],
)
def test_what_is_no_sentence_is_refused_by_word(sentence, said):
    with pytest.raises(ValueError, match=said):
        translate(sentence)


def test_negative_count():
    with pytest.raises(ValueError, match="negative"):
        list(generate_pairs(-1))
