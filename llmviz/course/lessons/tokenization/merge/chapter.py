"""Chapter "Merge": the merges of one word as a tree, and what greedy matching gives."""

from itertools import pairwise

import streamlit as st

from llmviz.course.components import TreeMerge, merge_tree
from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.lessons.tokenization import sources
from llmviz.course.lessons.tokenization import words as lesson_words
from llmviz.course.lessons.tokenization.merge import words
from llmviz.course.ui import kit
from llmviz.textfile import check_text
from llmviz.tokenizers import BPETokenizer, MergeTree, WordTokenizer
from llmviz.tokenizers.merging import merge_passes

BYTES_DRAWN = 48
PIECES_LISTED = 30


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the chapter."""
    kit.section(words.merge)
    from_the_end = state.setter(piece=0, merges=-1)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        kit.text_input(state, "word", words.merge_word, width=320, then=from_the_end)
        _rules(state)
        st.toggle(words.merge_space, **state.bind("space", then=from_the_end))
    try:
        tokenizer = sources.tokenizer_called(state, state["rules"])
        check_text(state["word"])
        if not isinstance(tokenizer, BPETokenizer):
            raise ValueError(words.not_bpe)
    except ValueError as error:
        kit.refuse(error)
        return
    if not state["word"].strip():
        st.info(words.merge_empty)
        return
    piece = _choose_piece(state, tokenizer)
    tree = tokenizer.merge_tree(piece)
    _tree(state, tokenizer, piece, tree)
    _ask(state, tokenizer)
    _code(state, tokenizer, piece)
    kit.seen(words.end, **end(tokenizer, piece, tree))


def end(tokenizer: BPETokenizer, piece: str, tree: MergeTree) -> dict[str, object]:
    """Return what the chapter ends with: what both rules make of a piece."""
    same = tokenizer.greedy_left_to_right(piece) == tree.ids
    return {
        "word": kit.quote(kit.visible(piece)),
        "tokens": kit.count(len(tree.ids), "token"),
        "merges": kit.count(tree.n_steps, "merge"),
        "greedy": words.end_same if same else words.end_other,
    }


def _rules(state: kit.PageState) -> None:
    names = sources.choices("bpe")
    st.selectbox(
        words.merge_rules,
        names if state["rules"] in names else [*names, state["rules"]],
        format_func=words.merge_rule_names.__getitem__,
        width=220,
        **state.bind("rules"),
    )


def _choose_piece(state: kit.PageState, tokenizer: BPETokenizer) -> str:
    """Return the piece of the word to look at; words with a border inside have several."""
    every = tokenizer.pretokenize((" " if state["space"] else "") + state["word"])
    pieces = every[:PIECES_LISTED]
    at = kit.keep(state, "piece", range(len(pieces)))
    if len(pieces) > 1:
        text = words.merge_pieces.format(pieces=kit.count(len(every), "piece"))
        if len(every) > len(pieces):
            text += " " + words.merge_listed.format(listed=len(pieces))
        kit.prose(text)
        from_the_end = state.setter(merges=-1)
        st.pills(
            words.merge_piece,
            range(len(pieces)),
            format_func=lambda i: kit.visible(pieces[i]).replace("`", "ˋ"),
            required=True,
            label_visibility="collapsed",
            **state.bind("piece", then=from_the_end),
        )
    piece = pieces[at]
    data = piece.encode("utf-8")
    if len(data) > BYTES_DRAWN:
        piece = data[:BYTES_DRAWN].decode("utf-8", errors="ignore")
        st.info(words.merge_cut.format(drawn=len(piece.encode("utf-8")), all=len(data)))
    return piece


def _tree(state: kit.PageState, tokenizer: BPETokenizer, piece: str, tree: MergeTree) -> None:
    merges = tree.n_steps
    step = merges if not 0 <= state["merges"] <= merges else state["merges"]
    greedy = tokenizer.greedy_left_to_right(piece)
    same = greedy == tree.ids

    n_bytes = len(tree.piece)
    summary = words.merge_count if merges else words.merge_nothing
    kit.prose(
        summary,
        merges=kit.count(merges, "merge"),
        bytes=kit.count(n_bytes, "byte"),
        word=kit.quote(kit.visible(piece)),
        tokens=kit.count(len(tree.ids), "token"),
    )
    merge_tree(
        [node_bytes(tree, i) for i in range(n_bytes)],
        [TreeMerge(node.left, node.right, node.rank) for node in tree.nodes[n_bytes:]],
        key="merge.tree",
        token_ids=[node.id for node in tree.nodes],
        greedy=[tokenizer.token_bytes(i) for i in greedy],
        candidates=candidates(tree, tokenizer),
        greedy_note=words.merge_same if same else words.merge_different,
        step=step,
        on_change=kit.bound(state, "merge.tree", step=("merges", kit.one_of([*range(merges), -1]))),
    )


def node_bytes(tree: MergeTree, index: int) -> bytes:
    """Return the bytes that a node of the tree spells."""
    node = tree.nodes[index]
    return tree.piece[node.byte_start : node.byte_end]


def candidates(tree: MergeTree, tokenizer: BPETokenizer) -> list[list[tuple[int, int | None]]]:
    """Return for each step, and for the end, the neighbours as (left node, rank or None)."""
    rank_of = {pair: rank for rank, pair in enumerate(tokenizer.merges)}
    listed = []
    for step in range(tree.n_steps + 1):
        now = tree.at(step)
        listed.append(
            [(left.index, rank_of.get((left.id, right.id))) for left, right in pairwise(now)]
        )
    return listed


def _ask(state: kit.PageState, tokenizer: BPETokenizer) -> None:
    text = state[kit.LEARNER_TEXT.key][:2_000]
    question = first_merge_question(text, state["word"], tokenizer)
    if question is not None:
        kit.predict(question, "merge.first")


def first_merge_question(text: str, known: str, tokenizer: BPETokenizer) -> kit.Question | None:
    """Return which pair of a word is merged first, as a question.

    The word is one of the text, other than `known`; None where no word has pairs enough.
    """
    others = {
        word
        for word in WordTokenizer.split(text)
        if word.isascii()
        and 4 <= len(word) <= 8
        and word != known
        and tokenizer.pretokenize(" " + word) == [" " + word]
    }
    for word in sorted(others, key=lambda word: (-len(word), word)):
        tree = tokenizer.merge_tree(" " + word)
        ranked = {
            visible_text(node_bytes(tree, left) + node_bytes(tree, left + 1))[0]: rank
            for left, rank in candidates(tree, tokenizer)[0]
        }
        mergeable = {pair: rank for pair, rank in ranked.items() if rank is not None}
        if len(mergeable) < 3:
            continue
        # The first pair from the left is always among the answers: it is the tempting one.
        by_rank = sorted(mergeable, key=mergeable.__getitem__)
        offered = {next(iter(ranked)), *by_rank[:3]}
        first = by_rank[0]

        def reason(pair: str, ranked: dict = ranked, first: str = first) -> str:
            line = words.ask_first_reason if pair == first else words.ask_first_later
            line = words.ask_first_never if ranked[pair] is None else line
            return line.format(pair=kit.quote(pair), rank=ranked[pair] or 0)

        reasons = {pair: reason(pair) for pair in ranked if pair in offered}
        return kit.Question.among(words.ask_first, reasons, first, word=kit.quote(word))
    return None


def _code(state: kit.PageState, tokenizer: BPETokenizer, piece: str) -> None:
    builds = sources.code_for(state, state["rules"])
    if builds is None:
        st.caption(lesson_words.no_snippet)
        return
    tree = tokenizer.merge_tree(piece)
    lines = [
        f"{node.rank} {node_bytes(tree, node.index)}" for node in tree.nodes[len(tree.piece) :]
    ]
    kit.show_code(
        [BPETokenizer.merge_tree, merge_passes],
        words.snippet.format(builds=builds, piece=piece),
        "\n".join([*lines, str(tree.ids), str(tokenizer.greedy_left_to_right(piece))]),
    )
