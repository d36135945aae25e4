"""All that the chapter "Merge" says. Names in braces are filled in with live numbers."""

MERGE_TITLE = "Which merge comes first"
MERGE_TEXT = (
    "To cut a word, BPE starts from its bytes and applies the merges that it learned. The next one "
    "is always the merge of lowest [[rank]] that fits anywhere in the word, not the first from the "
    "left. Step through it. Below the tree you see what another rule would give: always take the "
    "longest token from the left."
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
NOT_BPE = "This file has no BPE in it, so there are no merges to show. Choose another."
MERGE_PIECE = "Piece"
MERGE_PIECES = (
    "This is cut into {pieces} before any merge, because no merge crosses the border of a "
    "[[pre-token]]. Choose the one to look at."
)
MERGE_LISTED = "The first {listed} are listed."
MERGE_EMPTY = "Type a word to see its merges."
MERGE_CUT = "The tree shows the first {drawn} bytes of {all}."
MERGE_SAME = "taking the longest from the left happens to give the same here"
MERGE_DIFFERENT = (
    "taking the longest from the left gives other tokens; a model with this tokenizer reads those "
    "above"
)
MERGE_NOTHING = "No merge fits: {word} stays in single bytes."
MERGE_COUNT = "With {merges}, the {bytes} of {word} become {tokens}."
ASK_FIRST = (
    "Another word of your text, {word}, with a space before it: which two neighbours are joined "
    "first?"
)
ASK_FIRST_REASON = "{pair} has rank {rank:,}, the lowest among the pairs of this word."
ASK_FIRST_LATER = "{pair} has rank {rank:,}: another pair of this word has a lower one."
ASK_FIRST_NEVER = "No merge joins {pair}: training never chose this pair."
