"""All that the chapter "Norms and activations" says. Names in braces: live numbers."""

TITLE = "What a norm does to a vector"
TEXT = (
    "Every layer adds to the stream, so its numbers can grow. [[layer norm|Layer norm]] brings "
    "each token's vector to mean 0 and variance 1. Then it multiplies each column by a learned "
    "scale and, in most models, adds a learned shift. [[RMSNorm]] does not subtract the mean and "
    "has no shift. In each matrix a row is a token. A norm works on each row by itself."
)
WHICH_LABEL = "Norm"
WHICH = {"norm1": "of attention", "norm2": "of the feed-forward network"}
NO_NORMS = "This model has no norms in its layers. Choose another model above."
READ = (
    "Before the norm, the means of the {tokens} vectors lie between {mean_low:.2f} and "
    "{mean_high:.2f}, and their standard deviations between {low:.2f} and {high:.2f}. Without the "
    "learned scale and shift, layer norm brings each vector to mean 0 and variance 1. RMSNorm "
    "brings its mean square to 1. After it the means lie between {rms_low:.2f} and {rms_high:.2f}."
)
READ_ONE = (
    "Before the norm, the mean of the vector is {mean_low:.2f} and its standard deviation "
    "{low:.2f}. Without the learned scale and shift, layer norm brings it to mean 0 and variance "
    "1. RMSNorm brings its mean square to 1. After it the mean is {rms_low:.2f}."
)
OWN = {
    "layer": "The model's own norm here is layer norm; RMSNorm is given the same scale.",
    "rms": "The model's own norm here is RMSNorm; layer norm is given the same scale, no shift.",
}
EPSILON = (
    "A small number ε, here {epsilon:g}, is added before the root is taken, so that nothing is "
    "divided by 0. So the results are a little below 1. The smallest variance after layer norm is "
    "{variance:.4f}, the smallest mean square after RMSNorm {square:.4f}."
)
FORMULAS = {
    "mean": "of each row",
    "variance": "divided by C",
    "deviation": "√(variance + ε)",
    "normalized": "(x − mean) ÷ deviation",
    "out": "normalized × scale + shift",
    "out_plain": "normalized × scale",
    "mean square": "of each row",
    "root": "√(mean square + ε)",
    "divided": "x ÷ root",
    "rms out": "× scale",
}
LABELS = {"divided": "x ÷ root", "rms out": "RMSNorm"}
OUT = "layer norm"
MISTAKE = (
    "**Spot the mistake.** {students} students applied layer norm to the last vector, that of "
    "{token}, before scale and shift. Here are their first numbers. Which are right?"
)
STUDENTS = {2: "Two", 3: "Three", 4: "Four"}
MISTAKES = {
    "right": (
        "The mean is subtracted, and the rest is divided by the standard deviation, row by row."
    ),
    "variance": (
        "Here the row was divided by its variance, not by the root of it, the standard deviation."
    ),
    "mean": "The mean was not subtracted before the row was divided by its standard deviation.",
    "columns": (
        "Mean and standard deviation were computed for each column, over the tokens, not for each "
        "row."
    ),
}

STACK = "A deep stack with norms and without"
STACK_TEXT = (
    "Here is one reason for norms. Two stacks of untrained layers get the same random vectors, one "
    "with norms and one without. The lines show how large the numbers are after each layer: the "
    "root of their mean square, on a scale of powers of ten."
)
STACK_LAYERS = "Layers"
STACK_NORM = "Norm"
STACK_NORMS = {
    "pre": "layer norm, before",
    "post": "layer norm, after",
    "rms": "RMSNorm, before",
}
WITH = "with norms"
WITHOUT = "without"
AXES = ("layers passed", "size of the numbers")
STACK_READ = (
    "After {layers} layers the numbers have a size of **{without}** without norms, and of "
    "{with_} with them. {why}"
)
WHY = {
    "pre": "The norms stand before each part: what is added does not grow with the stream.",
    "post": "The norms stand after each addition: they bring the numbers back to a size of 1.",
    "rms": "The norms stand before each part: what is added does not grow with the stream.",
}
STACK_ASK = "Take {layers} layers without norms. How large are the numbers at the end, about?"
STACK_ANSWERS = (
    "below 10",
    "10 to 1,000",
    "1,000 to a million",
    "a million or more",
)
STACK_RIGHT = "The size is {size}: the larger the input of a layer, the larger is what it adds."
STACK_WRONG = "The size is {size}, which is not in this range."
STACK_NOTE = (
    "Width 32, 16 random vectors, seed 0, weights with deviation 1/√inputs, in float64, with "
    "shortcuts. Nothing was trained."
)

BEND = "The activation function"
BEND_TEXT = (
    "The feed-forward network contains an [[activation function]]. It is applied to each number by "
    "itself. {without} The bars count the numbers of {text} before the function, in this layer: "
    "{tokens} times {units}."
)
BEND_WITHOUT = (
    "Without it, the two matrices before and after it could do no more than a single one."
)
BEND_GATED = (
    "Here there are three matrices. The function is applied to the product of the first, the gate. "
    "Its result is multiplied by the product of the second."
)
BEND_OWN, BEND_SMALL = "your text", "the three words"
BEND_LABEL = "Function"
BENDS = {
    "own": "the model's own",
    "relu": "ReLU",
    "gelu": "GELU, exact",
    "gelu_tanh": "GELU, tanh form",
    "silu": "SiLU",
    "swiglu": "SwiGLU",
}
FORMULA = {
    "relu": "ReLU(x) = x above 0, else 0.",
    "gelu": (
        "GELU(x) = x · Φ(x), where Φ(x) is the share of a standard normal distribution below x."
    ),
    "gelu_tanh": "GELU(x) ≈ x/2 · (1 + tanh(√(2/π) · (x + 0.044715 · x³))).",
    "silu": "SiLU(x) = x · σ(x) = x ÷ (1 + e^−x).",
    "swiglu": (
        "SwiGLU(x, u) = SiLU(x) · u. The gate x comes from one matrix and u from another. The "
        "green line is for u = 1, the grey ones for u = 2 and u = −1."
    ),
}
DERIVATIVE = "derivative"
THROUGH = "u = {u:g}"
COUNTED = "numbers of the text"
BEND_AXIS = "before the activation function"
BEND_READ = (
    "{formula} The model's own function is {own}. Of the {count:,} numbers, {below} are not above "
    "0. At {flat} of all numbers the derivative of {name} lies between −0.1 and 0.1. Less than a "
    "tenth of the gradient goes back through these."
)
GAP = (
    "The tanh form was proposed because it is faster; GPT-2 uses it. The two forms differ most at "
    "x = ±{at:.2f}, by {gap:.6f}. That is too little to see on the curve."
)
BEND_ASK = "How many of these {count:,} numbers would ReLU set to 0?"
BEND_ANSWERS = (
    "up to a quarter",
    "more than a quarter, up to a half",
    "more than a half, up to three quarters",
    "more than three quarters",
)
BEND_REASON = "ReLU sets {below} to 0: all that are not above 0."
