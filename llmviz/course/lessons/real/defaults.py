"""What the chapters begin with, and what is recorded of them."""

FRANCE, ITALY = "The capital of France is", "The capital of Italy is"
HOT, BIG = "The opposite of hot is", "The opposite of big is"
LIGHTHOUSE = (
    "When the old lighthouse keeper climbed the stairs that evening, he found a letter on the "
    "table, and nobody could tell him who had written it."
)
SUMS = (
    ("king", "man", "woman"),
    ("Paris", "France", "Japan"),
    ("puppy", "dog", "cat"),
    ("went", "go", "see"),
    ("doctor", "he", "she"),
    ("first", "one", "two"),
    ("better", "good", "bad"),
)
NEAR = ("Monday", "three", "king", "France")
STRAWBERRY = "How many r's are in strawberry?"
QUESTIONS = (
    ("The capital of Australia is", "What is the capital of Australia?"),
    ("The capital of Zubrovia is", "What is the capital of Zubrovia?"),
    (STRAWBERRY, STRAWBERRY),
    ("17 + 25 =", "What is 17 + 25?"),
    ("A pirate says:", "Answer like a pirate: how are you?"),
)
PIRATE = QUESTIONS[-1][1]
LOG = (
    "Day one at sea. Arr, the wind be kind and the biscuits be hard. The captain lost his hat, and "
    "the cook lost his temper. Day two at sea. Arr, the wind be mean and the biscuits be gone. The "
    "captain found his hat, and the parrot sat in it. Day three at sea. Arr, there be land ahead, "
    "or else a very large turtle. The cook says turtle, the captain says land, and the parrot says "
    "biscuits. Day four at sea. Arr, it be a turtle. We named her Margaret and asked her the way. "
    "Day five at sea. Arr, Margaret be wrong about the way, but she be right about the weather."
)
BEGINNING = "Day six at sea."
NAME = "Boris"
STAR = "Twinkle, twinkle, little star, how I wonder what you are"
