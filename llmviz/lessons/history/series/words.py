"""All that the chapter "A series first" says. Names in braces are filled in with live numbers."""

TITLE = "A series predicted from its own past"
TEXT = (
    "Before letters, numbers. Take a series of values, one a day or one a year, and predict each "
    "value from the ones before it: X(t+1) = b₀ + b₁·X(t) + b₂·X(t−1). Such a model is called "
    "[[autoregressive]]: it reads what came before, and when it writes, it reads what it wrote. A "
    "language model does the same with tokens."
)
SOURCE = "Series"
SOURCES = {
    "sunspots": "Sunspots",
    "sea": "Sea temperatures",
    "swing": "A damped swing",
    "drawn": "Draw one",
    "typed": "Type one",
}
ABOUT = {
    "sunspots": (
        "Wolf’s sunspot number, as yearly means from {first} to {last}. Each spot counts 1, and "
        "each group of spots counts 10 more. Wolf and Wolfer put the series together in Zürich, "
        "the first hundred years from old records. In 1927 Yule fitted a model of this kind with "
        "two lags to this series."
    ),
    "sea": (
        "The temperature of the sea’s surface in degrees Celsius, off the coast of Ecuador and "
        "Peru (0 to 10° south, 90 to 80° west). The values are means of each month, from January "
        "{month} to December {december}. The data are from the American weather service NOAA. The "
        "temperature goes up and down once a year. In some years the water stays much warmer, an "
        "El Niño, as in 1997 and 1998."
    ),
    "swing": (
        "A swing that comes back every 12 steps and loses 4 % of its height at each step. It is "
        "computed with X(t+1) = 1.6628·X(t) − 0.9216·X(t−1). The first of these numbers is rounded."
    ),
    "drawn": "Draw a curve with the pointer, from left to right or in pieces.",
    "typed": (
        "Type numbers with commas or spaces between them. A gap is written -, ?, nan or as nothing "
        "between two commas."
    ),
}
TYPED = "Your series"
LAGS = "Lags: values looked back at"
HOLD = "Values held out at the end"
GAPS = "{gaps} left out, because a gap touches {them}."
THEM = {1: "it", 2: "them"}
VIEW = {
    "picture": "the series, its one-step predictions and the forecast",
    "x_axis": "step",
    "y_axis": "value",
    "series": "series",
    "predicted": "each value predicted from the true ones before it",
    "forecast": "forecast: predicted from its own values",
    "draw": "draw here",
    "drawing": "Let go: then the coefficients are fitted to what you drew.",
    "slider": "coefficient {k}",
    "fitted": "Mean squared error of the fitted coefficients: {error}. Move one of them.",
    "moved": "Mean squared error: {error}. The fitted coefficients have the lowest: {best}.",
    "reset": "Back to the fitted coefficients",
    "step": (
        "Forecast {step}: {guess}. The series has {truth} there, so it is off by {off}. Root mean "
        "squared error of all so far: {error}."
    ),
    "beyond": "Forecast {step}: {guess}. The series does not go so far.",
    "before": "Press play: the forecast begins at the dotted line and reads its own values.",
    "gap": "There is no forecast: one of the values that it would begin with is a gap.",
}
FITTED = (
    "Fitted on {rows}: X(t+1) = {formula}. Its mean squared error one step ahead is {error:.4g}; "
    "always predicting the mean has {mean:.4g}."
)
HALF = ", {error:.4g} over the first {middle}"
GROWTH = (
    "Over the {steps} held-out values, the root mean squared error of the forecast is {first:.4g} "
    "for the first value alone{half} and {last:.4g} over all. One step ahead, with the true "
    "values before each, it is {one:.4g}. {compare}"
)
COMPARE = {
    "grows": "So the forecast is off by more: it reads its own values, with their errors.",
    "same": "Here the error stays the same when it reads its own values.",
    "less": "Here it is off by less when it reads its own values than when it reads the true ones.",
}
NORMAL_TITLE = "Where the coefficients come from"
NORMAL_TEXT = (
    "Each row of X holds a 1 and the {lags} before a value, y holds that value. The sum of squared "
    "errors is lowest where its slope is 0 for every b. That gives as many equations as there are "
    "coefficients, the *normal equations*: XᵀX·b = Xᵀy. They are solved at once; no steps are "
    "needed."
)
LAG = "{lags} value"
LAGS_PLURAL = "{lags} values"
FORMULA_INVERSE = "the inverse of XᵀX"
ONES, LAG_NAME = "1", "t−{lag}"
LETTERS_TITLE = "The same with letters"
LETTERS_TEXT = (
    "A letter is not a quantity: z is not 26 times a. So each letter becomes a row of 27 zeros "
    "with a single 1 ([[one-hot]]), and so does the next letter. Fit the second from the first by "
    "least squares, on all {pairs:,} letter pairs of {names:,} names. XᵀX then has the count of "
    "each letter on its diagonal, and Xᵀy is the table of counted pairs. The coefficients are "
    "counts divided by row sums. After {letter}, b for {best} is {count:,} ÷ {row:,} = "
    "**{share:.4f}**. The largest difference between the solved coefficients and the counted "
    "probabilities is {gap:.1e}. So the next chapter begins by counting."
)
ASK = (
    "On the {rows:,} rows that have one value more before them, a fit with {lags} has a mean "
    "squared error of {error:.4g}. Now fit with one lag more, on the same rows. What can happen to "
    "this error?"
)
ASK_ANSWERS = {
    "It can only fall or stay": (
        "With the new coefficient at 0 the model is the old one. Least squares finds the best, so "
        "it is never worse on the same rows: here it is {more:.4g}. On values that were held out "
        "it may well be worse."
    ),
    "It can rise": "That would need a best fit that is worse than one of its own special cases.",
    "It must become 0": (
        "Only where the best fit goes through every point, as it does with as many coefficients as "
        "rows. Here there are {rows:,} rows and {all} coefficients."
    ),
}
