"""All that the lesson on tokens says, in one place: translating it means translating this file.

Names in braces are filled in with live numbers.
"""


# ---- tokenizers and corpora, by the names that links use

CHOOSE_TOKENIZER = "Tokenizer"
TOKENIZERS = {
    "trained": "the BPE that you train in the part “Learn”",
    "loaded": "from the file that you loaded",
}
NO_FILE = "A link does not contain a tokenizer file, and no file was loaded here."
BPE_INSTEAD = "The bundled BPE is shown instead."
NO_SNIPPET = (
    "There is no code for this choice: it would have to contain a whole file, or a long text of "
    "yours."
)


OWN_CORPUS = (
    "low lower lowest low low new newer newest newest new wide wider widest widest "
    "slow slower slowest"
)
TRAINING = "Training …"
