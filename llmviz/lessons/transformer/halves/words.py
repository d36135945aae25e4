"""All that the chapter "Two halves" says. Names in braces are filled in with live numbers."""

SENTENCE = "rarely the friendly king chases two poets in the train"
TITLE = "One half reads, the other writes"
TEXT = (
    "The transformer of 2017 was made for translation and has two halves. The [[encoder]] reads "
    "the whole sentence at once. The [[decoder]] writes the translation, one word at a time. This "
    "model translates English into Tavin, a language with fixed rules that was invented for this "
    "app. Go through it step by step."
)
START = "⟨start⟩"
END = "⟨end⟩"
VIEW = {
    "player": "steps of the translation",
    "heads": "Layer · head",
    "encoder": "Encoder: the sentence that is read",
    "decoder": "Decoder: its own words so far",
    "nothing": "nothing yet",
    "says": "What it says next",
    "reads": "Self-attention: what {token} looks at. Every word sees every other.",
    "masked": "Masked self-attention: {token} sees itself and the tokens before it.",
    "crossed": "Cross-attention: how much {token} looks at each word of the sentence.",
}
HEAD = "{layer} · {head}"
CAPTION_READ = (
    "The encoder reads all {count} words in one pass and makes a vector for each. No word is "
    "hidden. The decoder looks at these vectors in each of its steps."
)
CAPTION_STEP = (
    "Step {step} of {steps}. The newest token is {token}. It looks at the {before} tokens that the "
    "decoder has, and at all {count} words of the sentence. The decoder says {said}, with {share}."
)
CAPTION_FIRST = (
    "Step 1 of {steps}. The decoder begins with {token}. It sees no word of its own yet, only all "
    "{count} words of the sentence. The decoder says {said}, with {share}."
)
NOTE = "Point at a token to see what it looks at. Each picture shows one head of each attention."
RIGHT = "The translation is {said}. That is right, word for word."
WRONG = "The translation is {said}. By the rules, {known} is right."
PASSES = "The encoder ran once; the decoder took {steps}, one for each word and one for the end."
PASSES_CUT = "The encoder ran once; the decoder took {steps}, and then its context was full."
ASK = (
    "At step {step} of {steps}, the decoder has read {step} tokens, including the start token. The "
    "sentence has {count} words. What does the newest token see?"
)
SEES = "{own} tokens in the masked self-attention, {cross} words in the cross-attention"
ASK_RIGHT = (
    "It sees the {step} tokens up to itself: later ones are masked, and do not exist yet. The "
    "encoder has read the whole sentence, so all {count} of its words can be seen."
)
ASK_FUTURE = "At step {step} only {step} tokens are there; the other {left} are not written yet."
ASK_NARROW = "Cross-attention has no such mask: the whole sentence is there before the first step."
ASK_TURNED = (
    "It is the other way round: the mask is on the decoder's own words, not on the sentence."
)

TEACHER_TITLE = "With the right words, or with its own"
TEACHER_TEXT = (
    "In training, the decoder reads the right translation, even where it would have said something "
    "else. This is [[teacher forcing]]. So an early mistake does not spoil the later steps, and a "
    "transformer computes all steps at once. In use, there is no right translation to read. The "
    "decoder reads its own words: [[free running]]. Both are computed here for the sentence above."
)
TRANSLATOR = "Translator"
TRANSLATORS = {"pairs-rnn": "One vector (recurrent)", "pairs-seq2seq": "Two halves (transformer)"}
ROW_NAMES = (
    "teacher forcing: it reads",
    "teacher forcing: it says",
    "free running: it reads",
    "free running: it says",
)
STEP = "step {step}"
CELL_READS = "the decoder reads {token}"
CELL_SAYS = "the decoder says {token}, with {share}; right is {right}"
CELL_OVER = "no step: the translation has ended"
SCALE = ("0 %", "100 %")
GRID = "what the decoder reads and says at each step"
GRID_NOTE = "Colour: the probability of the word that it says. Bold: not the right word."
PART = (
    "**The first mistake is at step {step}.** Up to this step both read the same words. At step "
    "{step} the model says {said}, but {right} is right. With teacher forcing it reads {right} "
    "next; on its own it reads {said}. From then on there is a wrong word in its input. On its "
    "own, {free} of {all_free} words are wrong or missing; with teacher forcing, {forced} of "
    "{all_forced}."
)
PART_ENDS = (
    "**The first mistake is at step {step}.** Up to this step both read the same words. At step "
    "{step} the model says {said}, but {right} is right. On its own it ends there; with teacher "
    "forcing it reads {right} next. On its own, {free} of {all_free} words are wrong or missing; "
    "with teacher forcing, {forced} of {all_forced}."
)
PART_FULL = (
    "**They differ at step {step}**: the context is full, so on its own the model cannot go on."
)
PART_END = (
    "**The first mistake is at step {step}**, the last one: the model says {said}, but {right} is "
    "right. After this step, teacher forcing has no word left to give."
)
NEVER = (
    "**They never differ on this sentence.** At each of {steps} steps the model says the right "
    "word. So its own words are the right ones, and both read the same."
)
NEVER_SHARE = " This model translates {share} of the held-out sentences word for word."
NEVER_OTHER = " Choose the other translator to see one that makes more mistakes."
LOSS = (
    "The training loss is computed with teacher forcing. It is the mean of −ln p of the right "
    "words, here {loss} nats. It does not show how a wrong word would change the words after it."
)
MISTAKE = (
    "**Spot the mistake.** A training program gives the decoder {fed} and asks it for {asked}, "
    "position by position. What is wrong?"
)
MISTAKE_ANSWERS = (
    "The two are not shifted by one: at each position the decoder reads the answer.",
    "The decoder should read its own words in training.",
    "The decoder should read the English words here.",
    "The end token must not be asked for.",
)
MISTAKE_REASONS = (
    "The decoder reads each word at the position where it must predict this word. It can learn to "
    "copy, with a loss near 0, without learning to translate. It should read {right}.",
    "That would be free running. Teacher forcing gives it the right words, and this is not a "
    "mistake.",
    "The English words go into the encoder. The decoder looks at them by cross-attention.",
    "It must be asked for: from it the model learns when to stop.",
)

SMALL_TITLE = "A decoder small enough to count"
SMALL_TEXT = (
    "This decoder has one layer with random weights. It has V = {v} tokens, width C = {c}, H = {h} "
    "heads of D = {d} numbers, feed-forward width {f}, and no biases in the attention. It reads T "
    "= {t} tokens and S = {s} words of the sentence. The table has every tensor on the way from "
    "input to output."
)
SHAPE_COLUMNS = ["name in the trace", "what it is", "axes", "shape"]
SHAPES = {
    "encoder.output": ("output of the encoder", "B, S, C"),
    "decoder.embed": ("tokens as vectors, with positions", "B, T, C"),
    "attn.q": ("self-attention: queries", "B, H, T, D"),
    "attn.k": ("self-attention: keys", "B, H, T, D"),
    "attn.v": ("self-attention: values", "B, H, T, D"),
    "attn.scores": ("queries times keys", "B, H, T, T"),
    "attn.scaled": ("divided by the root of D", "B, H, T, T"),
    "attn.masked": ("later tokens become −∞", "B, H, T, T"),
    "attn.weights": ("softmax of each row", "B, H, T, T"),
    "attn.output": ("weights times values", "B, H, T, D"),
    "attn.concat": ("heads side by side", "B, T, C"),
    "attn": ("through the output projection", "B, T, C"),
    "asks": ("added and normed: input of the cross-attention", "B, T, C"),
    "cross.q": ("cross-attention: queries, from the decoder", "B, H, T, D"),
    "cross.k": ("cross-attention: keys, from the encoder", "B, H, S, D"),
    "cross.v": ("cross-attention: values, from the encoder", "B, H, S, D"),
    "cross.scores": ("queries times keys: not square", "B, H, T, S"),
    "cross.scaled": ("divided by the root of D", "B, H, T, S"),
    "cross.masked": ("padding would be −∞; there is none here", "B, H, T, S"),
    "cross.weights": ("softmax of each row", "B, H, T, S"),
    "cross.output": ("weights times values", "B, H, T, D"),
    "cross.concat": ("heads side by side", "B, T, C"),
    "cross": ("through the output projection", "B, T, C"),
    "mlp.hidden": ("feed-forward, up", "B, T, 4C"),
    "mlp.act": ("negative numbers become 0", "B, T, 4C"),
    "mlp": ("feed-forward, down", "B, T, C"),
    "residual": ("added and normed: the layer's output", "B, T, C"),
    "decoder.output": ("output of the decoder", "B, T, C"),
    "logits": ("a logit for each token", "B, T, V"),
}
COUNT_COLUMNS = ["tensor", "what it is", "shape", "parameters"]
TENSORS = {
    "token.weight": "a vector for each token",
    "attn.qkv.weight": "self-attention: queries, keys, values",
    "attn.projection.weight": "self-attention: output projection",
    "cross.qkv.weight": "cross-attention: queries, keys, values",
    "cross.projection.weight": "cross-attention: output projection",
    "norm.weight": "norm: scale",
    "norm.bias": "norm: shift",
    "mlp.hidden.weight": "feed-forward, up",
    "mlp.hidden.bias": "feed-forward, up: bias",
    "mlp.output.weight": "feed-forward, down",
    "mlp.output.bias": "feed-forward, down: bias",
    "head.weight": "head",
    "head.bias": "head: bias",
}
COUNT = (
    "Its {tensors} learned tensors hold **{total:,} parameters**. The positions are waves: they "
    "are computed and not learned, so they are not counted. The parameters of the encoder are not "
    "counted either."
)
COUNT_ASK = (
    "The decoder has {h} heads of {d} in a width of {c}, and no biases in the attention. How many "
    "of its parameters are in the cross-attention?"
)
COUNT_RIGHT = (
    "Queries, keys, values and output projection are four matrices of {c} × {c}: "
    "4 × {square:,} = {right:,}. The heads share them: each has {d} of the {c} columns."
)
COUNT_WRONG = (
    "That is three matrices. The output projection, which mixes the heads, is a fourth.",
    "That is one matrix of {c} × {c}. Queries, keys, values and the output have one each.",
    "That would be four matrices of {c} × {c} for every head. The heads share them.",
)
