"""All that the chapter "Merge" says. Names in braces are filled in with live numbers."""

MERGE_TITLE = "Which merge comes first"
MERGE_TEXT = (
    "To cut a word, BPE starts from its bytes and applies the merges that it learned. Of all "
    "merges that fit anywhere in the word, it always takes the one with the lowest [[rank]]. It "
    "does not go from left to right. Follow it step by step. Below the tree you see what another "
    "rule would give: always take the longest token from the left."
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
NOT_BPE = (
    "The tokenizer in this file is not a BPE tokenizer, so there are no merges to show. Choose "
    "other merges."
)
MERGE_PIECE = "Piece"
MERGE_PIECES = (
    "The word is cut into {pieces} before any merge, because no merge crosses the border of a "
    "[[pre-token]]. Choose a piece to see its merges."
)
MERGE_LISTED = "The first {listed} are listed."
MERGE_EMPTY = "Type a word to see its merges."
MERGE_CUT = "The tree shows the first {drawn} bytes of {all}."
MERGE_SAME = "always taking the longest token from the left gives the same tokens here"
MERGE_DIFFERENT = (
    "always taking the longest token from the left gives other tokens; a model with this tokenizer "
    "reads the tokens above"
)
MERGE_NOTHING = "No merge fits: {word} stays in single bytes."
MERGE_COUNT = "With {merges}, the {bytes} of {word} become {tokens}."
ASK_FIRST = (
    "Take another word of your text, {word}, with a space before it. Which two neighbours are "
    "joined first?"
)
ASK_FIRST_REASON = "{pair} has rank {rank:,}, the lowest among the pairs of this word."
ASK_FIRST_LATER = "{pair} has rank {rank:,}. Another pair of this word has a lower rank."
ASK_FIRST_NEVER = "No merge joins {pair}: training never chose this pair."
