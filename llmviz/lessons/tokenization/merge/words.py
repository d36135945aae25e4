"""All that the chapter "Merge" says. Names in braces are filled in with live numbers."""

MERGE_TITLE = "Which merge comes first"
MERGE_TEXT = (
    "To cut a word, BPE starts from its bytes and applies the merges that it learned: always the "
    "one of lowest [[rank]] next, wherever in the word it fits, not the first from the left. Step "
    "through it. Below the tree you see what another rule would give: always take the longest "
    "token from the left."
)
MERGE_WORD = "Word"
MERGE_WORD_DEFAULT = "tokenization"
MERGE_SPACE = "With the space before it"
MERGE_RULES = "Merges of"
MERGE_RULE_NAMES = {
    "bpe": "the bundled BPE",
    "trained": "the BPE of “Learn”",
    "loaded": "your file",
}
NOT_BPE = "This file holds no BPE, so there are no merges to show; choose another."
MERGE_PIECE = "Piece"
MERGE_PIECES = (
    "This is cut into {pieces} before any merge, since no merge crosses the border of a "
    "[[pre-token]]. Choose the one to look at."
)
MERGE_EMPTY = "Type a word to see its merges."
MERGE_CUT = "The tree shows the first {limit} bytes of {all}."
MERGE_SAME = "taking the longest from the left happens to give the same here"
MERGE_DIFFERENT = (
    "taking the longest from the left gives another sequence of tokens than the model read for "
    "this word in training"
)
MERGE_NOTHING = "No merge fits: {word} stays in single bytes."
MERGE_COUNT = "{merges} turn {bytes} of {word} into {tokens}."
ASK_FIRST = (
    "Another word of your text, {word}, with a space before it: which two neighbours are joined "
    "first?"
)
ASK_FIRST_REASON = "{pair} has rank {rank:,}, the lowest among the pairs of this word."
ASK_FIRST_LATER = "{pair} has rank {rank:,}: another pair of this word has a lower one."
ASK_FIRST_NEVER = "No merge joins {pair}: it was never the most frequent pair in training."
