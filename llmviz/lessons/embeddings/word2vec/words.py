"""What the chapter on word2vec says."""

from llmviz.lessons.embeddings.words import MAP_OF_WORDS

TITLE = "Learn a word from the words around it"
TEXT = (
    "Nobody tells the model what a word means. It reads a text and learns only one thing: which "
    "words are near each other. Words with the same neighbours then tend to get similar vectors, "
    "because similar vectors predict similar neighbours. This is [[word2vec]], from 2013, in the "
    "form that is called [[skip-gram]]."
)
RELATIVES = (
    "Two other methods: **GloVe** (2014) first counts how often words are near each other in the "
    "whole text. Then it fits its vectors to this table of counts. **FastText** (2016) adds up the "
    "vectors of the pieces of a word. So it has a vector even for a word that it has never seen."
)
CORPUS = "Text to learn from"
CORPORA = {
    "tiny-world": "Tiny-world, a million characters",
    "story": "The bundled story",
    "text": "My text",
}
EPOCHS_FOR = {"tiny-world": 20, "story": 50, "text": 200}
WINDOW = "Window: words on each side"

# ---- the pairs

PAIRS = {
    "struck": "left out this time: some places of frequent words are not read",
    "random": "Compared with these random words, which the vector should not predict:",
    "news": "Pairs of this word: {n}. Pairs so far: {total}.",
}
REACH = (
    "{word} makes pairs with up to {reach} on each side. For every word, this number is drawn at "
    "random from 1 to the window of {window}. So near words are used more often than far ones."
)
REACH_KEPT = (
    "Of the whole text, {kept} is read this time. The more frequent a word is, the more often it "
    "is left out."
)

# ---- training

TRAIN_TITLE = "Training"
TRAIN_TEXT = (
    "Every word has two vectors. The map shows the first. The second one is used when the word is "
    "the neighbour of another word. For each pair, the word's first vector and the neighbour's "
    "second vector move a little towards each other. The word's first vector and the second "
    "vectors of the random words move away from each other. This is repeated for every pair of the "
    "text. Press play to see the result, or train your own vectors. The training runs here, on "
    "this machine."
)
DIMENSION = "Numbers in a vector"
NEGATIVES = "Random words per pair"
RATE = "Learning rate"
EPOCHS = "How often the text is read"
SEED = "Seed"
ALSO = "Words the film must follow"
ALSO_HELP = (
    "A film follows up to 500 words. First come the words that you type here, then up to 24 of "
    "each kind below the map, then the most frequent words. Put commas or spaces between your "
    "words, and press Train."
)
ALSO_MANY = "You can name up to {most} words; there are {count}."
ALSO_LOST = "{word} is not in the text, so no film can follow it."
ALSO_LIKE = " Spelled like it: {words}."
HELD = (
    "**The film follows {n:,} of the {all:,} words of the text**: up to 24 of each kind above, "
    "then the most frequent. To follow another word, type it into “Words the film must follow” and "
    "train. The training itself uses all words."
)
HELD_ALL = "The film follows all {n:,} words of the text."
TRAIN = "Train"
AGAIN = "Train again"
PAUSE = "Pause"
GO_ON = "Go on"
STOP = "Stop"
STARTING = "Starting a process for the training …"
QUEUED = "Waiting: {before} before yours …"
READING = "Reading the text …"
PROGRESS = "{read:,} of {total:,} words read"
PAUSED = "Paused."
SAME_FILM = "The film of a training with exactly these settings, which comes with the app."
BUNDLED_FILM = (
    "You see the film that comes with the app: {corpus}, {dim} numbers per vector, a window of "
    "{window}, learning rate {rate:g}. Press “Train” for your settings."
)
UNTIL = "Until the first frame of your training is ready, you see the film that comes with the app."
NO_FILM = "No film is in this copy. Press “Train”, or make it with this command:"
NO_FILM_COMMAND = "python -m llmviz checkpoints make tiny-world-word2vec"
KEEP = "Keep for the other lessons"
KEPT = "Kept as {name}: choose it under “Vectors of” in the other chapters."
CSV = "CSV"
TSV = "Vectors (TSV)"
TSV_LABELS = "Words (TSV)"
TOOK = "{words:,} words were read in {seconds:.1f} s, {speed:,.0f} words a second."

FILM = MAP_OF_WORDS | {
    "choose": "Click a word, or find it above, to see which words are near it and how it moved.",
    "lost": "not among the {n} words of this film",
    "map": "Map of the words; arrow keys go from word to word, Enter chooses, plus and minus zoom",
}
NOT_HERE = "Not among the {n} words of this film: {words}."
NEAR = {"cosine": "by cosine:", "euclidean": "by distance:"}
MEASURES = {"cosine": "cosine", "euclidean": "distance"}
STANDS = "{n} in the text"
LOSS = "loss, nats a pair"
CAPTION = "{read:,} of {total:,} words · learning rate {rate:.3g}"
CAPTION_LOSS = " · loss {loss}"
AXES = {
    1: ("the one number of each word", "kind of word, a lane each"),
    2: ("first number", "second number"),
    3: ("first principal direction", "second principal direction"),
}
ABOUT_MAP = {
    1: (
        "With one number for each word, the map is a line. The lanes only keep the kinds of words "
        "apart. Every [[cosine similarity|cosine]] is 1 or −1, so “near” means a small distance "
        "here. One number is too few to keep many words apart."
    ),
    2: (
        "In two dimensions **the map shows the vectors themselves**, all {n} of them, each at its "
        "own two numbers. Two numbers are not many to keep many words apart."
    ),
    3: (
        "Each vector has {width} numbers. The map shows {n} words in the plane in which they "
        "spread most around their mean. Each frame is turned or mirrored to fit the frame before "
        "it. It is never stretched. Between two frames the points move in straight lines. The "
        "lists of neighbours are computed from all {width} numbers."
    ),
}
NEIGHBOURS_BEFORE_AND_AFTER = (
    "Before training, all vectors are random. The words nearest to {word} are {early}. At the end, "
    "the nearest words are {late}. The first of them has a {measure} of {value}."
)
ASK = "At the end of training, which of these words has the vector most like the vector of {word}?"
ASK_BESIDE = (
    "{beside} is beside {word} more often than any other word is. But a pair moves the vector of "
    "{word} towards the *second* vector of {beside}. The map shows the first one. On the map, the "
    "cosine of the two words is {cosine}. Words that have the same neighbours tend to end nearer "
    "to each other."
)
ASK_RIGHT = "At the end, its nearest words are {near}."
ASK_FIRST = "{first} was the nearest word before the first update, when all vectors were random."

# ---- the loss of a pair

LOSS_TEXT = (
    "**The loss of one pair.** The vector of {word} should predict {near} and not the {k}. Its dot "
    "product with the second vector of each of these words is computed. With the trained vectors "
    "the loss of this pair is {total:.3f} [[nats]]."
)
LOSS_W = "the word's vector"
LOSS_N = "second vectors"
LOSS_SCORES = "dot products"
LOSS_SIGN = "should be"
LOSS_SIGNED = "with that sign"
LOSS_SURE = "σ: probability"
LOSS_COSTS = "−ln: the loss"
LOSS_MEANS = (
    "σ(x) = 1 / (1 + e⁻ˣ) turns every score into a number from 0 to 1. A training step moves the "
    "word's vector and the second vectors a little. They move in the direction in which the sum of "
    "these losses falls."
)

SNIPPET = """
from llmviz.pretrained import load_bundled
from llmviz.similarity import nearest

model, tokenizer, card = load_bundled({name!r})
vectors = model.vectors()
row = tokenizer.vocabulary.index({word!r})
near = nearest(vectors, vectors[row], 5, exclude=[row])
print([tokenizer.token_bytes(i).decode() for i in near.ids])
"""
SNIPPET_OWN = """
from llmviz.similarity import nearest
from llmviz.training.word_vectors import WordVectorPlan, film

plan = WordVectorPlan.from_dict({plan!r})
beginning, *frames, end = film(plan, {text!r})
tokenizer, vectors = beginning.tokenizer, end.word
row = tokenizer.vocabulary.index({word!r})
near = nearest(vectors, vectors[row], 5, exclude=[row])
print([tokenizer.token_bytes(i).decode() for i in near.ids])
"""
