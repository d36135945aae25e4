"""The words of the section "Spot the mistake" of chapter "Logits to a token"."""

TITLE = "Spot the mistake"
TEXT = (
    "Code for top-k and top-p is short, but mistakes are easy to make. Here is code, run on the "
    "logits above. In each program, one line is wrong."
)
LINE = "line {n}"
CUT_CODE = """\
1  largest = sorted(logits)[-{shortlist}:]     # the others are too improbable to matter
2  probabilities = softmax(largest)
3  size = nucleus_size(probabilities, {p:g})   # the fewest tokens that have {p:.0%} together
4  print(size)                       # {short}"""
CUT_ASK = (
    "With all {vocabulary:,} tokens, top-p = {p:g} keeps {whole} tokens. This program prints "
    "{short}. Which line makes it go wrong?"
)
CUT_REASON = (
    "Softmax divides by a sum over all tokens. Line 1 leaves out {left}, so the sum in line 2 is "
    "too small and every probability too large. The program keeps {short}. Their true probability "
    "is less than {p:.0%}: {mass}."
)
CUT_NO = {
    2: "Softmax itself is right. But it gets too few logits.",
    3: "This line is right for the probabilities that it gets. But these are too large.",
    4: "This line only prints the number.",
}
TIE_CODE = """\
1  logits = model(ids)               # rounded to 16 bits (bfloat16)
2  k_th = sorted(logits)[-{k}]         # number {k} from the top, {value:g}
3  kept = [z >= k_th for z in logits]
4  print(sum(kept))                  # {kept}"""
TIE_ASK = (
    "Many large models compute in 16 bits, where equal logits are common. Top-k with k = {k} must "
    "keep {k} tokens, but this program keeps {kept}. Which line makes it go wrong?"
)
TIE_REASON = (
    "{last} and {extra} both have the logit {value:g}. “At least as large as number {k}” keeps "
    "all tokens that are equal to it. A rule for a tie is needed. This app keeps the lowest ids."
)
TIE_NO = {
    1: "Rounding makes some logits equal. But it is still possible to keep {k} tokens.",
    2: "This is the right number. The next line uses it in a wrong way.",
    4: "This line only counts the tokens that are kept.",
}
