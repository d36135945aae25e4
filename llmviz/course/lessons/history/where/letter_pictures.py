"""Pictures of the letters A to Z, and two small networks that learn them here, in NumPy.

One tells which letter a picture shows, the other draws pictures pixel by pixel. N pictures,
P = 144 pixels, H hidden units, 26 letters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_uppercase

import numpy as np

from llmviz.sampling.steps import softmax

SIDE = 12  # pixels of a picture that a network sees
EACH, TESTED = 40, 8  # pictures of each letter to learn from, and to test with at most
HIDDEN = 48
STEPS = 120

# The letters in 5 × 7 cells, a row after the other, drawn for this project.
_SHAPES = {
    "A": "01110 10001 10001 11111 10001 10001 10001",
    "B": "11110 10001 10001 11110 10001 10001 11110",
    "C": "01111 10000 10000 10000 10000 10000 01111",
    "D": "11110 10001 10001 10001 10001 10001 11110",
    "E": "11111 10000 10000 11110 10000 10000 11111",
    "F": "11111 10000 10000 11110 10000 10000 10000",
    "G": "01111 10000 10000 10011 10001 10001 01111",
    "H": "10001 10001 10001 11111 10001 10001 10001",
    "I": "00100 00100 00100 00100 00100 00100 00100",
    "J": "00001 00001 00001 00001 00001 10001 01110",
    "K": "10001 10010 10100 11000 10100 10010 10001",
    "L": "10000 10000 10000 10000 10000 10000 11111",
    "M": "10001 11011 10101 10101 10001 10001 10001",
    "N": "10001 11001 11001 10101 10011 10011 10001",
    "O": "01110 10001 10001 10001 10001 10001 01110",
    "P": "11110 10001 10001 11110 10000 10000 10000",
    "Q": "01110 10001 10001 10001 10101 10010 01101",
    "R": "11110 10001 10001 11110 10100 10010 10001",
    "S": "01111 10000 10000 01110 00001 00001 11110",
    "T": "11111 00100 00100 00100 00100 00100 00100",
    "U": "10001 10001 10001 10001 10001 10001 01110",
    "V": "10001 10001 10001 01010 01010 01010 00100",
    "W": "10001 10001 10001 10101 10101 11011 10001",
    "X": "10001 10001 01010 00100 01010 10001 10001",
    "Y": "10001 10001 01010 00100 00100 00100 00100",
    "Z": "11111 00001 00010 00100 01000 10000 11111",
}


@dataclass(frozen=True)
class Networks:
    """What was learned.

    w1 (P, H), b1 (H,), w2 (H, 26), b2 (26,): the classifier, tanh between them. accuracy: the share
    of `tested` pictures whose letter it names; none of them is one that was learned. across (P, P):
    the pixel model's weights, 0 but where a pixel reads an earlier one. of_letter (26, P): what
    each letter adds. seen: pictures learned.
    """

    w1: np.ndarray
    b1: np.ndarray
    w2: np.ndarray
    b2: np.ndarray
    accuracy: float
    across: np.ndarray
    of_letter: np.ndarray
    seen: int
    tested: int


def shape_of(letter: str) -> np.ndarray:
    """Return a letter's cells, (7, 5) of 0 and 1. KeyError for anything but A to Z."""
    return np.array([[int(cell) for cell in row] for row in _SHAPES[letter].split()])


def picture_of(letter: str, side: int, chance: np.random.Generator | None = None) -> np.ndarray:
    """Return a letter drawn into (side, side) cells of 0 and 1.

    chance: turns it by up to 12 degrees, leans it, stretches it, and makes it thin or thick.
    Without it the letter stands upright.
    """
    shape = shape_of(letter)
    draw = chance.uniform if chance else lambda low, high: (low + high) / 2
    turn, lean = np.deg2rad(draw(-12, 12)), draw(-0.25, 0.25)
    wide, high, thick = draw(0.8, 1.2), draw(0.8, 1.2), draw(0.5, 0.85)
    rows, columns = np.mgrid[0:side, 0:side]
    unit = 0.72 * side / 7  # cells of the picture for one of the shape
    y, x = (rows - (side - 1) / 2) / unit, (columns - (side - 1) / 2) / unit
    x, y = np.cos(turn) * x + np.sin(turn) * y, -np.sin(turn) * x + np.cos(turn) * y
    x, y = (x + lean * y) / wide, y / high
    picture = np.zeros((side, side), dtype=bool)
    for row, column in np.argwhere(shape):
        picture |= _near(x, y, (row, column), (row, column), thick)
        for below, beside in ((0, 1), (1, 0), (1, 1), (1, -1)):  # strokes join what touches
            other = (row + below, column + beside)
            inside = other[0] < 7 and 0 <= other[1] < 5
            diagonal = below and beside
            if not inside or not shape[other]:
                continue
            if diagonal and (shape[row, other[1]] or shape[other[0], column]):
                continue
            picture |= _near(x, y, (row, column), other, thick)
    return picture.astype(np.uint8)


def _near(x: np.ndarray, y: np.ndarray, start: tuple, end: tuple, thick: float) -> np.ndarray:
    """Which points are nearer than `thick` to the line between two cells of a shape."""
    (y0, x0), (y1, x1) = [(row - 3, column - 2) for row, column in (start, end)]
    length = max((x1 - x0) ** 2 + (y1 - y0) ** 2, 1e-9)
    along = (((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length).clip(0, 1)
    return (x - x0 - along * (x1 - x0)) ** 2 + (y - y0 - along * (y1 - y0)) ** 2 < thick**2


def fitted(picture: np.ndarray) -> np.ndarray:
    """Return a drawing of any size as a network sees it, (12, 12): cut out, centred, one size.

    Raises ValueError for a drawing without a stroke.
    """
    cells = np.argwhere(picture)
    if not len(cells):
        raise ValueError("there is no stroke yet")
    (top, left), (bottom, right) = cells.min(0), cells.max(0) + 1
    size = max(bottom - top, right - left)
    unit = size / (SIDE - 2)
    places = (np.arange(SIDE) - (SIDE - 1) / 2) * unit
    rows, columns = places + (top + bottom - 1) / 2, places + (left + right - 1) / 2
    shares = np.zeros((SIDE, SIDE))
    offsets = (np.arange(3) - 1) / 3 * unit  # nine samples of each pixel
    for down in offsets:
        for across in offsets:
            # Halves go up wherever the drawing stands; rint would send them to even places.
            r, c = (np.floor(at + 0.5).astype(int) for at in (rows + down, columns + across))
            ok = np.outer((r >= 0) & (r < picture.shape[0]), (c >= 0) & (c < picture.shape[1]))
            r, c = r.clip(0, picture.shape[0] - 1), c.clip(0, picture.shape[1] - 1)
            shares += ok * picture[np.ix_(r, c)]
    return (shares >= 4).astype(np.uint8)


def pictures(each: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return pictures of all letters as networks see them, (26 · each, P), and their letters."""
    chance = np.random.default_rng(seed)
    drawn = [
        fitted(picture_of(letter, 20, chance)).ravel()
        for letter in ascii_uppercase
        for _ in range(each)
    ]
    return np.array(drawn, dtype=np.float32), np.repeat(np.arange(26), each)


class _Adam:
    """Adam on a list of arrays, which it changes. Reference: Kingma and Ba 2015."""

    def __init__(self, arrays: list[np.ndarray], rate: float) -> None:
        self.arrays, self.rate, self.step = arrays, rate, 0
        self.means = [np.zeros_like(array) for array in arrays]
        self.squares = [np.zeros_like(array) for array in arrays]

    def update(self, gradients: list[np.ndarray]) -> None:
        self.step += 1
        for array, mean, square, gradient in zip(
            self.arrays, self.means, self.squares, gradients, strict=True
        ):
            mean += 0.1 * (gradient - mean)
            square += 0.01 * (gradient**2 - square)
            scale = np.sqrt(square / (1 - 0.99**self.step)) + 1e-8
            array -= self.rate * mean / (1 - 0.9**self.step) / scale


def train_networks(steps: int = STEPS) -> Iterator[tuple[int, float, Networks | None]]:
    """Train both networks; yield (step, the classifier's loss in nats, None), at last the networks.

    Each step uses all pictures. The last value is (steps, loss, Networks).
    """
    x, letters = pictures(EACH, seed=0)
    n, letter = len(x), np.eye(26, dtype=np.float32)[letters]
    chance = np.random.default_rng(0)
    w1 = chance.normal(0, 0.1, (x.shape[1], HIDDEN)).astype(np.float32)
    b1 = np.zeros(HIDDEN, np.float32)
    w2 = chance.normal(0, 0.1, (HIDDEN, 26)).astype(np.float32)
    b2 = np.zeros(26, np.float32)
    across = np.zeros((x.shape[1], x.shape[1]), np.float32)
    earlier = np.triu(np.ones_like(across), k=1)  # row: the pixel read, column: a later one
    of_letter = np.zeros((26, x.shape[1]), np.float32)
    names, draws = _Adam([w1, b1, w2, b2], 0.01), _Adam([across, of_letter], 0.03)
    loss = float("nan")
    for step in range(1, steps + 1):
        hidden = np.tanh(x @ w1 + b1)
        p = softmax(hidden @ w2 + b2)
        loss = float(-np.log(p[np.arange(n), letters] + 1e-12).mean())
        error = (p - letter) / n
        back = error @ w2.T * (1 - hidden**2)
        names.update([x.T @ back, back.sum(0), hidden.T @ error, error.sum(0)])
        gap = (_sigmoid(x @ across + letter @ of_letter) - x) / n
        draws.update([x.T @ gap * earlier, letter.T @ gap])
        if step % 10 == 0 and step < steps:
            yield step, loss, None
    test, right = pictures(TESTED, seed=1)
    learned = {picture.tobytes() for picture in x}
    new = np.array([picture.tobytes() not in learned for picture in test])
    test, right = test[new], right[new]
    guesses = (np.tanh(test @ w1 + b1) @ w2 + b2).argmax(1)
    accuracy = float((guesses == right).mean())
    yield steps, loss, Networks(w1, b1, w2, b2, accuracy, across, of_letter, n, len(test))


def which_letter(networks: Networks, picture: np.ndarray) -> np.ndarray:
    """Return the probability of each letter for a drawing of any size, (26,).

    Raises ValueError for a drawing without a stroke.
    """
    x = fitted(picture).ravel().astype(np.float32)
    hidden = np.tanh(x @ networks.w1 + networks.b1)
    return softmax(hidden @ networks.w2 + networks.b2)


def draw_letter(networks: Networks, letter: str, seed: int) -> np.ndarray:
    """Draw a picture (12, 12) of a letter pixel by pixel, each by chance from those before.

    Reference: Frey 1998 (fully visible sigmoid belief network).
    """
    chance = np.random.default_rng(seed)
    start = networks.of_letter[ascii_uppercase.index(letter)]
    pixels = np.zeros(len(start), np.float32)
    for at in range(len(pixels)):
        p = _sigmoid(start[at] + pixels @ networks.across[:, at])
        pixels[at] = chance.random() < p
    return pixels.reshape(SIDE, SIDE)


def _sigmoid(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(z, -30, 30)))
