"""What the chapter on word2vec says."""

from llmviz.lessons.embeddings.words import MAP_OF_WORDS

TITLE = "Learn a word from the words around it"
TEXT = (
    "Nobody tells the model what a word means. It reads a text and learns one thing only: which "
    "words stand near which. Words with the same neighbours then tend to get alike vectors, "
    "because alike vectors predict alike neighbours. This is [[word2vec]], from 2013, in the form "
    "that is called [[skip-gram]]."
)
RELATIVES = (
    "Two other methods: **GloVe** (2014) first counts how often words stand near each other in the "
    "whole text, and fits its vectors to this table. **FastText** (2016) adds up the vectors of "
    "the pieces of a word. So it has a vector even for a word that it has never seen."
)
CORPUS = "Text to learn from"
CORPORA = {
    "tiny-world": "Tiny-world, a million characters",
    "story": "The bundled story",
    "text": "My text",
}
EPOCHS_FOR = {"tiny-world": 20, "story": 50, "text": 200}
WINDOW = "Window: words to either side"

# ---- the pairs

PAIRS = {
    "struck": "left out this time: some places of frequent words are not read",
    "random": "Compared with these random words, which the vector should not predict:",
    "news": "Pairs of this word: {n}. Pairs so far: {total}.",
}
REACH = (
    "{word} makes pairs with up to {reach} on each side. This number is drawn at random for every "
    "word, from 1 to the window of {window}, so near words count more often than far ones."
)
REACH_KEPT = (
    "Of the whole text, {kept} is read this time: the more frequent a word is, the more often it "
    "is left out."
)

# ---- training

TRAIN_TITLE = "Training"
TRAIN_TEXT = (
    "Every word has two vectors: its own, which the map shows, and a second one for its place as a "
    "neighbour. For each pair, the word's vector and the neighbour's second vector move a little "
    "towards each other. The word's vector and the second vectors of the random words move away "
    "from each other. That is all; it is repeated for every pair of the text. Press play to see "
    "the result, or train your own: it runs here, on this machine."
)
DIMENSION = "Numbers in a vector"
NEGATIVES = "Random words a pair"
RATE = "Learning rate"
EPOCHS = "Times the text is read"
SEED = "Seed"
ALSO = "Words the film must follow"
ALSO_HELP = (
    "A film follows up to 500 words: first those that you type here, then up to 24 of each kind "
    "below the map, then the most frequent. Put commas or spaces between them, and press Train."
)
ALSO_MANY = "A film may be asked for {most} words; there are {count}."
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
    "You see the film that comes with the app: {corpus}, {dim} numbers a vector, a window of "
    "{window}, learning rate {rate:g}. Press “Train” for your settings."
)
UNTIL = "Until your first frame is here, this is the film that comes with the app."
NO_FILM = "No film is in this copy. Press “Train”, or make it with this command:"
NO_FILM_COMMAND = "python -m llmviz checkpoints make tiny-world-word2vec"
KEEP = "Keep for the other lessons"
KEPT = "Kept as {name}: choose it under “Vectors of” in the other chapters."
CSV = "CSV"
TSV = "Vectors (TSV)"
TSV_LABELS = "Words (TSV)"
TOOK = "{words:,} words were read in {seconds:.1f} s, {speed:,.0f} words a second."

FILM = MAP_OF_WORDS | {
    "choose": "Click a word, or find it above, to see what is near it and the way it went.",
    "lost": "not among the {n} words of this film",
    "map": "Map of the words; arrow keys go from word to word, Enter chooses, plus and minus zoom",
}
NOT_HERE = "Not among the {n} words of this film: {words}."
NEAR = {"cosine": "by cosine:", "euclidean": "by distance:"}
MEASURES = {"cosine": "cosine", "euclidean": "distance"}
STANDS = "stands there {n}"
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
        "With one number for each word the map is a line; the lanes only keep the kinds apart. "
        "Every [[cosine similarity|cosine]] is now 1 or −1, so here near means a small distance. "
        "One number is too few to keep many words apart."
    ),
    2: (
        "In two dimensions **the map shows the vectors themselves**, all {n} of them, each at its "
        "own two numbers. Two numbers are few to keep many words apart."
    ),
    3: (
        "Each vector has {width} numbers. The map shows {n} words in the plane in which they "
        "spread most around their mean. Each frame is turned or mirrored, never stretched, to lie "
        "like the one before it. Between two frames the points move in straight lines. The lists "
        "of neighbours are computed from all {width} numbers."
    ),
}
NEIGHBOURS_BEFORE_AND_AFTER = (
    "Before training all vectors are random, and the words nearest to {word} are {early}. At the "
    "end they are {late}, the first with a {measure} of {value}."
)
ASK = "Which of these words ends with the vector most like that of {word}?"
ASK_BESIDE = (
    "{beside} stands beside {word} more often than any other word does. But a pair moves the "
    "vector of {word} towards the *second* vector of {beside}, not towards the one on the map: the "
    "cosine of the two on the map is {cosine}. Words that have the same neighbours tend to end "
    "nearer."
)
ASK_RIGHT = "Its nearest at the end: {near}."
ASK_FIRST = "{first} was the nearest before the first update, when all vectors were random."

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
    "word's vector and the second vectors a little, in the direction in which the sum of these "
    "losses falls."
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
