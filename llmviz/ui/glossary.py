"""The words of the app, each explained in one or two sentences."""

from __future__ import annotations

TERMS: dict[str, str] = {
    "activation function": (
        "A function that bends each number by itself, such as ReLU or GELU. Without one between "
        "them, two matrices would do no more than a single one."
    ),
    "activation patching": (
        "Putting a vector that a model computed for one text into its pass over another, to see "
        "whether the answer comes with it."
    ),
    "adjusted Rand index": (
        "How far two groupings of the same things agree on which pairs belong together: 1 if they "
        "are the same, about 0 if they agree no more than by chance."
    ),
    "attention": (
        "The step in which every token gathers information from the tokens it may see, "
        "weighted by how well its query fits their keys."
    ),
    "attention weights": (
        "The attention scores after softmax: one row per asking token, each row adding up to 1."
    ),
    "autograd": (
        "The part of torch that notes every operation on the way forward and, on demand, works "
        "back through the notes to every gradient."
    ),
    "batch": (
        "Several windows of text that go through the model together; the loss is their mean."
    ),
    "beam search": (
        "Writing with several beginnings kept at each step, instead of the one that looks best."
    ),
    "bigram": (
        "A language model that looks at the last token alone: a table of which token follows "
        "which, and how often."
    ),
    "BPE": (
        "Byte-pair encoding: start from small pieces, then again and again join the pair of "
        "neighbours that occurs most often into one new token. Here the smallest pieces are bytes "
        "(byte-level BPE), as in GPT-2."
    ),
    "byte": (
        "Eight bits, a number from 0 to 255. UTF-8 writes every character as one to four bytes."
    ),
    "causal mask": (
        "The rule that a token may look at itself and at what came before, never ahead."
    ),
    "character": "One Unicode code point. What you see as one letter can be several of them.",
    "context length": "The largest number of tokens that the model can look at at once.",
    "corpus": "The texts that a tokenizer or a model learns from.",
    "cosine similarity": (
        "The dot product of two vectors divided by both lengths: 1 for the same direction, "
        "0 for a right angle, −1 for opposite directions."
    ),
    "cross-entropy": (
        "Minus the logarithm of the probability that the model gave to the token that "
        "really came, averaged over positions. Measured in nats."
    ),
    "decode": "To turn token ids back into text.",
    "decoder": (
        "The part of a model that writes, one token at a time, looking at what it has written "
        "and, in a translation, at what the encoder read."
    ),
    "dot product": (
        "Two vectors multiplied number by number, and the products added: large when both point "
        "the same way."
    ),
    "dropout": (
        "Setting numbers to 0 at random while training, so that a model does not depend on any one "
        "of them alone."
    ),
    "embedding": (
        "The vector that stands for a token inside the model: one row of the embedding matrix."
    ),
    "encode": "To turn text into token ids.",
    "encoder": "The part of a model that reads a whole text and gives a vector for each token.",
    "entropy": (
        "The average surprise of a distribution, in nats: ln n for n equal chances, 0 for "
        "certainty."
    ),
    "feed-forward network": (
        "The part of a layer that works on each token by itself: a matrix that widens its vector, "
        "an activation function, and a matrix that brings it back to its width."
    ),
    "gradient": (
        "For each weight, how fast the loss would rise if that weight grew: the slope of the loss."
    ),
    "Euclidean distance": (
        "The straight line between the tips of two vectors: the root of the sum of their squared "
        "differences."
    ),
    "greedy": "Always taking the most probable token.",
    "head": (
        "One of several attentions that run side by side in a layer, each with its own "
        "queries, keys and values."
    ),
    "induction": (
        "A head finds the place where the present token stood earlier in the text, and takes "
        "information from the token that followed it there."
    ),
    "input–target pair": (
        "A window of tokens and the same window shifted by one: at each position the model "
        "must predict the target from the inputs up to there."
    ),
    "key": "The vector that a token offers to be found by; it is compared with queries.",
    "k-means": (
        "A way to find clusters: every point goes to the nearest of k centres, every centre moves "
        "to the mean of its points, and so on until nothing changes."
    ),
    "layer norm": (
        "Bringing the numbers of each token to mean 0 and variance 1, then multiplying each column "
        "by a learned scale and adding a learned shift."
    ),
    "layer": (
        "One transformer block: attention and feed-forward network, each added to the "
        "residual stream."
    ),
    "learning rate": (
        "The number that sets how far a step goes. Plain gradient descent multiplies the gradient "
        "by it; optimizers such as Adam first make an update of the gradients, and multiply that."
    ),
    "logit lens": (
        "Reading the residual stream after any layer through the final norm and the head: what "
        "the model would say if it stopped there."
    ),
    "logits": "The model's raw scores for every token of the vocabulary, before softmax.",
    "merge": (
        "A learned BPE rule: these two neighbouring tokens become this one. Its rank is its "
        "place in the order in which the rules were learned."
    ),
    "min-p": (
        "Keep the tokens with at least this share of the largest probability, drop the rest, "
        "renormalise."
    ),
    "nats": (
        "The unit of loss and entropy when the natural logarithm is used; 1 nat is 1.44 bits."
    ),
    "one-hot": (
        "A one-hot vector has a single 1 and is 0 everywhere else. Multiplied with a table, it "
        "picks one row."
    ),
    "out of vocabulary": (
        "A word is out of vocabulary if a word tokenizer has no token for it: it becomes <|unk|>. "
        "A byte-level tokenizer can write every word, in single bytes if need be."
    ),
    "padding": (
        "A special token that fills up short texts, so that all texts of a batch are equally long. "
        "Attention and loss leave it out."
    ),
    "PCA": (
        "Principal component analysis: moves the mean of all points to 0 and turns them, so that "
        "the first axes are those along which they spread most. A map keeps two or three axes and "
        "leaves out the rest."
    ),
    "overfitting": (
        "Getting better at the training texts and worse at all others: learning by heart."
    ),
    "perplexity": (
        "e to the power of the loss: between how many equally likely tokens the model seems "
        "to hesitate."
    ),
    "pre-token": (
        "A piece of text, roughly a word with the space before it, inside which BPE merges. "
        "Merges never cross its borders."
    ),
    "query": "The vector with which a token asks: it is compared with the keys of others.",
    "rank": "The place of a merge in the order of learning. The lowest rank applies first.",
    "repetition penalty": (
        "Making tokens that the text already holds less probable before the draw."
    ),
    "residual stream": (
        "The vector of each token that runs through all layers; every layer reads it and "
        "adds to it."
    ),
    "RMSNorm": (
        "Dividing the numbers of each token by the root of their mean square. Unlike layer norm it "
        "leaves their mean where it is, and it has no shift."
    ),
    "rotary positions": (
        "A token's position written into its queries and keys by turning them: two numbers at "
        "a time, by an angle that grows with the position."
    ),
    "skip-gram": (
        "The form of word2vec that predicts, from a word, the words around it. Each word has two "
        "vectors: training pulls the first vector of a word to the second vectors of those around."
    ),
    "softmax": "Exponentials divided by their sum: turns any scores into probabilities.",
    "special token": (
        "A token that is no piece of ordinary text but marks something: the end of a document "
        "(<|endoftext|>), padding, an unknown word, the start of a text."
    ),
    "start token": (
        "A special token before the first token of every text: with it, a model has something to "
        "predict the first token from. Here it is <|endoftext|>."
    ),
    "stride": "How many tokens the window moves from one training example to the next.",
    "sub-word": "A token that is a piece of a word, such as a stem or an ending.",
    "t-SNE": (
        "A map that keeps near points near. Large distances, sizes of clusters and the gaps "
        "between clusters mean little on it."
    ),
    "temperature": (
        "The number that logits are divided by before softmax. Below 1 sharpens, above 1 flattens."
    ),
    "token": (
        "The unit a language model reads and writes: a word, a piece of a word, a character "
        "or a byte."
    ),
    "token id": "The number of a token in the vocabulary. It is a name, not a quantity.",
    "top-k": "Keep the k most probable tokens, drop the rest, renormalise.",
    "top-p": (
        "Keep the smallest set of most probable tokens whose probabilities reach p, drop "
        "the rest, renormalise."
    ),
    "trustworthiness": (
        "How true the neighbours on a map are, from 0 to 1: it falls when the map shows "
        "points side by side that are far apart."
    ),
    "UMAP": ("A map like t-SNE's, drawn from a graph of nearest neighbours."),
    "unit": (
        "One of the numbers inside a feed-forward network, between its two matrices. It fires on a "
        "token where it is above 0 before the activation function."
    ),
    "value": "The vector that a token hands over when it is attended to.",
    "vocabulary": (
        "The list of all tokens that a tokenizer knows; its length is the vocabulary size."
    ),
    "WordPiece": (
        "A tokenizer like BPE with another rule: it joins the pair whose count is highest compared "
        "with the counts of its two parts. Pieces inside a word are written with ## in front."
    ),
    "word2vec": ("Vectors for words that were learned by predicting which words stand near which."),
}


def define(term: str) -> str:
    """Return the explanation of a term.

    Raises KeyError: the term is not in the glossary.
    """
    return TERMS[term]
