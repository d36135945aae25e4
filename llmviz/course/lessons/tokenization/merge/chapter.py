"""Chapter "Merge": the merges of one word as a tree, and WordPiece beside it."""

from itertools import pairwise

import streamlit as st

from llmviz.course.components import TreeMerge, merge_tree
from llmviz.course.components.token_strip.view import visible_text
from llmviz.course.lessons.tokenization import sources
from llmviz.course.lessons.tokenization import words as lesson_words
from llmviz.course.lessons.tokenization.merge import wordpiece, words
from llmviz.course.ui import kit
from llmviz.files.text import check_text
from llmviz.tokenizers import BPETokenizer, MergeTree, WordTokenizer
from llmviz.tokenizers.merging import merge_passes

BYTES_DRAWN = 48
PIECES_LISTED = 30


@st.fragment
def draw(state: kit.PageState) -> None:
    """Show the merges of a word as a tree, and the guess which pair of another one is first."""
    kit.prose(words.hook)
    tokenizer = None
    with kit.stage("merge"):
        picture = st.container()
        from_the_start = state.setter(piece=0, merges=0)
        with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
            kit.text_input(state, "word", words.word, width=320, then=from_the_start)
            _rules(state)
            st.toggle(words.space, **state.bind("space", then=from_the_start))
        try:
            found = sources.tokenizer_called(state, state["rules"])
            check_text(state["word"])
            if not isinstance(found, BPETokenizer):
                raise ValueError(words.not_bpe)
            if state["word"].strip():
                tokenizer = found
            else:
                st.info(words.empty)
        except ValueError as error:
            kit.refuse(error)
        if tokenizer is not None:
            piece = _choose_piece(state, tokenizer)
            tree = tokenizer.merge_tree(piece)
            with picture:
                _tree(state, tokenizer, tree)
    kit.source(state)
    text = state[kit.LEARNER_TEXT.key][:2_000]
    asked = None if tokenizer is None else first_merge_question(text, state["word"], tokenizer)
    kit.Guess("merge.first", asked).ask()
    kit.looks(state, words.looks, "merge.looks")
    wordpiece.draw(state)
    if tokenizer is not None:
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
        words.rules,
        names if state["rules"] in names else [*names, state["rules"]],
        format_func=words.rule_names.__getitem__,
        width=220,
        **state.bind("rules"),
    )


def _choose_piece(state: kit.PageState, tokenizer: BPETokenizer) -> str:
    """Return the piece of the word to look at; words with a border inside have several."""
    every = tokenizer.pretokenize((" " if state["space"] else "") + state["word"])
    pieces = every[:PIECES_LISTED]
    at = kit.keep(state, "piece", range(len(pieces)))
    if len(pieces) > 1:
        text = words.pieces.format(pieces=kit.count(len(every), "piece"))
        cut = words.listed.format(listed=len(pieces)) if len(every) > len(pieces) else ""
        kit.prose(f"{text} {cut}")
        names = {n: kit.visible(part).replace("`", "ˋ") for n, part in enumerate(pieces)}
        kit.choose_below_title(state, "piece", words.piece, names, state.setter(merges=0))
    data = pieces[at].encode()
    if len(data) <= BYTES_DRAWN:
        return pieces[at]
    piece = data[:BYTES_DRAWN].decode(errors="ignore")
    st.info(words.cut.format(drawn=len(piece.encode()), all=len(data)))
    return piece


def _tree(state: kit.PageState, tokenizer: BPETokenizer, tree: MergeTree) -> None:
    merges, n_bytes = tree.n_steps, len(tree.piece)
    step = state["merges"] if 0 <= state["merges"] <= merges else merges
    greedy = tokenizer.greedy_left_to_right(tree.piece.decode())
    merge_tree(
        [node_bytes(tree, i) for i in range(n_bytes)],
        [TreeMerge(node.left, node.right, node.rank) for node in tree.nodes[n_bytes:]],
        key="merge.tree",
        token_ids=[node.id for node in tree.nodes],
        greedy=[tokenizer.token_bytes(i) for i in greedy],
        candidates=candidates(tree, tokenizer),
        greedy_note=words.same if greedy == tree.ids else words.different,
        step=step,
        on_change=kit.bound(state, "merge.tree", step=("merges", kit.one_of([*range(merges), -1]))),
    )
    kit.prose(caption(tree, step))


def caption(tree: MergeTree, step: int) -> str:
    """Return what the last of some merges of a word joined, and how many pieces are left."""
    left = kit.count(len(tree.at(step)), "piece")
    if not step:
        return words.caption["none" if tree.n_steps else "never"].format(left=left)
    node = tree.nodes[len(tree.piece) + step - 1]
    parts = [kit.quote(visible_text(node_bytes(tree, at))[0]) for at in (node.left, node.right)]
    return words.caption["joined"].format(
        step=step, rank=node.rank, a=parts[0], b=parts[1], left=left
    )


def node_bytes(tree: MergeTree, index: int) -> bytes:
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


def first_merge_question(text: str, known: str, tokenizer: BPETokenizer) -> kit.Question | None:
    """Return which pair of a word is merged first, as a question.

    The word is the longest of the text, other than `known`, in which it is not the first pair from
    the left: that is what somebody would say who reads on from there. None where there is none.
    """
    listed = {word for word in WordTokenizer.split(text) if word.isascii() and 4 <= len(word) <= 8}
    for word in sorted(listed - {known}, key=lambda word: (-len(word), word)):
        if tokenizer.pretokenize(" " + word) != [" " + word]:
            continue
        tree = tokenizer.merge_tree(" " + word)
        ranked = {
            visible_text(node_bytes(tree, left) + node_bytes(tree, left + 1))[0]: rank
            for left, rank in candidates(tree, tokenizer)[0]
        }
        mergeable = {pair: rank for pair, rank in ranked.items() if rank is not None}
        by_rank, leftmost = sorted(mergeable, key=mergeable.__getitem__), next(iter(ranked))
        if len(by_rank) < 3 or leftmost == by_rank[0]:
            continue
        reasons = {}
        for pair in dict.fromkeys([leftmost, *by_rank[:3]]):
            line = words.ask_first_later if pair in mergeable else words.ask_first_never
            line = words.ask_first_reason if pair == by_rank[0] else line
            reasons[pair] = line.format(pair=kit.quote(pair), rank=ranked[pair] or 0)
        return kit.Question.among(words.ask_first, reasons, by_rank[0], word=kit.quote(word))
    return None


def _code(state: kit.PageState, tokenizer: BPETokenizer, piece: str) -> None:
    if (builds := sources.code_for(state, state["rules"])) is None:
        st.caption(lesson_words.no_snippet)
        return
    tree = tokenizer.merge_tree(piece)
    made = range(len(tree.piece), len(tree.nodes))
    lines = [f"{tree.nodes[at].rank} {node_bytes(tree, at)!r}" for at in made]
    lines += [str(tree.ids), str(tokenizer.greedy_left_to_right(piece))]
    snippet = words.snippet.format(builds=builds, piece=piece)
    kit.show_code([BPETokenizer.merge_tree, merge_passes], snippet, "\n".join(lines))
