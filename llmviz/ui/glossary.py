"""The words of the app, each explained in one or two sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable

from llmviz.document import marks

_CODE = re.compile(f"{marks.CODE}[^{marks.CODE_END}]*{marks.CODE_END}")

TERMS: dict[str, str] = {
    "activation function": (
        "A function that is applied to each number by itself, such as ReLU or GELU. Its graph is "
        "not a straight line. Without such a function between them, two matrices would do no more "
        "than a single matrix."
    ),
    "activations": (
        "The numbers that a model computes on the way from its input to its output. The numbers "
        "that the backward pass needs are kept in memory until then."
    ),
    "activation patching": (
        "A test: a vector that a model computed for one text is put into its computation for "
        "another text. It shows whether the answer changes with the vector."
    ),
    "adjusted Rand index": (
        "How well two groupings of the same things agree on which pairs belong together. It is 1 "
        "if the groupings are the same, and about 0 if they agree no more than by chance."
    ),
    "advantage": (
        "How much better an answer was than a baseline: its reward minus the baseline. A "
        "policy-gradient step makes answers with a positive advantage more probable."
    ),
    "all-gather": (
        "An operation of several processes. Before it, each has a part. After it, each has all "
        "parts."
    ),
    "all-reduce": (
        "An operation of several processes. Before it, each has numbers. After it, each has the "
        "sums of these numbers over all processes. A reduce-scatter and then an all-gather have "
        "the same result."
    ),
    "all-to-all": (
        "An operation of several processes. Each process sends a different part of its numbers to "
        "each other process."
    ),
    "arithmetic intensity": (
        "How many operations a computation does for each byte that it reads or writes."
    ),
    "attention": (
        "The step in which each token takes information from the tokens that it may see. The "
        "better its query fits the key of a token, the more it takes from it."
    ),
    "attention weights": (
        "The attention scores after softmax. Each token has a row. It says how much the token "
        "takes from each token. A row adds up to 1."
    ),
    "autograd": (
        "The part of torch that computes gradients. It records every operation of the forward pass "
        "and then goes through the record backwards."
    ),
    "autoregressive": (
        "An autoregressive model predicts the next value or token from the values or tokens before "
        "it. When the model writes, it reads what it wrote."
    ),
    "back-off": (
        "A rule for tables of counts. If a token was never seen after a long context, the next "
        "shorter context says how likely it is."
    ),
    "bandit": (
        "The smallest task with rewards: a machine with several arms, each of which pays when it "
        "is drawn. There is nothing to read, only arms to choose from."
    ),
    "base model": (
        "A language model after pretraining. It continues texts. It has not been trained to answer "
        "or to do anything else."
    ),
    "baseline": (
        "In reinforcement learning, a number that is taken off each reward, such as the mean "
        "reward. It does not change the mean gradient, but how far single gradients lie from it."
    ),
    "batch": (
        "Several windows of text that go through the model together; the loss is their mean."
    ),
    "beam search": (
        "A way to write a text: at each step several beginnings are kept, not only the most "
        "probable one."
    ),
    "bigram": (
        "A language model that looks only at the last token. It is a table of how often each token "
        "follows each token."
    ),
    "block table": (
        "The list of the blocks of memory in which the keys and values of a text lie, in the "
        "order of its tokens. Blocks that follow each other in the list may lie anywhere."
    ),
    "BM25": (
        "A score for how well a text fits the words of a search. A rare word counts more, a word "
        "that comes again counts a little more, and a long text loses a little."
    ),
    "BPE": (
        "Byte-pair encoding. It starts from small pieces. Then, again and again, it joins the pair "
        "of neighbours that occurs most often into one new token. Here the smallest pieces are "
        "bytes (byte-level BPE), as in GPT-2."
    ),
    "BIO": (
        "A way to mark names in a text, short for begin, inside, outside. B marks the first word "
        "of a name, I marks the further words of the name, and O marks all other words."
    ),
    "Bradley–Terry model": (
        "A rule that turns two scores into a probability. That the first of two things is "
        "preferred has the probability σ(first score − second score)."
    ),
    "bubble": (
        "The time of a step in which a process of a pipeline has nothing to compute. Its input is "
        "not there yet, or its work is done."
    ),
    "byte": (
        "Eight bits, a number from 0 to 255. UTF-8 writes every character as one to four bytes."
    ),
    "calibration": (
        "Whether a model is as sure as it is right. It is well calibrated if 70 % of the guesses "
        "are right to which it gave 70 %, and so for every share."
    ),
    "causal mask": (
        "The rule that a token may look at itself and at the tokens before it, but never at later "
        "tokens."
    ),
    "character": "One Unicode code point. What you see as one letter can be several of them.",
    "chat template": (
        "A rule that writes the turns of a conversation as one text, with special tokens that say "
        "who speaks and where a turn ends. A model is trained with one template."
    ),
    "code (quantization)": (
        "The whole number that stands for a weight on a grid of evenly spaced values. The rounded "
        "weight is (code − zero point) · step; a symmetric grid has the zero point 0."
    ),
    "confusion matrix": (
        "A table of counts. Each row is the true class of some texts, and each column is the class "
        "that the model gave them. The right answers are on the diagonal."
    ),
    "context length": "The largest number of tokens that the model can read at once.",
    "continuous batching": (
        "Serving many requests at once so that each may join the batch, and leave it, at any "
        "step. No request waits for the longest one of its batch."
    ),
    "control task": (
        "A task that can only be learned by heart, such as a random tag for each word. If a probe "
        "does this task well, it has learned words by heart."
    ),
    "corpus": "The texts that a tokenizer or a model learns from.",
    "cosine similarity": (
        "The dot product of two vectors, divided by both lengths. It is 1 if they point the same "
        "way, 0 at a right angle, and −1 if they point in opposite ways."
    ),
    "cross-entropy": (
        "How wrong the predictions were, in nats. At each position, it is minus the natural "
        "logarithm of the probability of the token that really follows. Then the mean over all "
        "positions is taken."
    ),
    "curriculum learning": (
        "To train a model on easy examples first and on harder ones later (Bengio and others, "
        "2009). What a model finds can depend on this order."
    ),
    "dark knowledge": (
        "What a teacher's distribution says about the tokens that did not come: which of them it "
        "finds probable, and how probable. A single token as a target says nothing of it."
    ),
    "decode": "To turn token ids back into text.",
    "decoder": (
        "The part of a model that writes, one token at a time. It looks at what it has written so "
        "far. In a translation it also looks at what the encoder read."
    ),
    "direct preference optimisation": (
        "Training on pairs of texts, of which one is better. It makes the better text more "
        "probable than the other text, compared with a frozen copy of the model."
    ),
    "distillation": (
        "Training a small model, the student, with what a large one, the teacher, writes or with "
        "the distributions that it gives."
    ),
    "dot product": (
        "Two vectors are multiplied number by number, and the products are added up. For given "
        "lengths, the dot product is largest if both vectors point the same way."
    ),
    "deduplication": (
        "To keep each text of a training set once. A text that stands there often is easily "
        "learned by heart."
    ),
    "dropout": (
        "In training, a share p of some numbers is set to 0 at random, and the others are divided "
        "by 1 − p. So the model learns not to depend on any one of them alone."
    ),
    "embedding": (
        "The vector that stands for a token inside the model: one row of the embedding matrix."
    ),
    "encode": "To turn text into token ids.",
    "encoder": "The part of a model that reads a whole text and gives a vector for each token.",
    "entropy": (
        "How uncertain a distribution is, in nats: the mean of −ln p. It is 0 if the outcome is "
        "certain, and ln n for n equally probable outcomes."
    ),
    "expected calibration error": (
        "The mean distance between how sure a model was and how often it was right. Guesses are "
        "put into bins by how sure it was, and each bin weighs as many guesses as it has."
    ),
    "feature": (
        "Something that a vector may tell, such as “this is a name”. In a sparse autoencoder it is "
        "a direction, with a value for each vector. The value is 0 where the feature is off."
    ),
    "feed-forward network": (
        "The part of a layer that works on each token by itself. A matrix makes its vector wider, "
        "an activation function follows, and another matrix brings the vector back to its width."
    ),
    "fast memory": (
        "The small memory beside a processor's arithmetic, such as the caches of a CPU or the "
        "shared memory of a GPU. Reading it is many times faster than reading the large memory."
    ),
    "fine-tuning": (
        "To train a trained model further, on other examples than before. All of its weights are "
        "trained, or some of them."
    ),
    "decoding": (
        "Writing with a language model: one token of each text at a time, with the cache of all "
        "tokens before it."
    ),
    "flash attention": (
        "Attention computed in tiles that fit into fast memory, with a running maximum and sum in "
        "each row. It gives the same result, and the matrix of all weights is never written."
    ),
    "few-shot prompt": (
        "A prompt that holds a few examples of a task, each with its answer, and then a new case. "
        "No weight of the model changes."
    ),
    "floating-point number": (
        "A number that is stored as a sign, an exponent and a mantissa (the digits after the "
        "point). Its value is sign × 2 to the power of the exponent × 1.mantissa. So large and "
        "small numbers have equally many digits. Only the smallest ones, the subnormal numbers, "
        "have fewer."
    ),
    "Fourier transform": (
        "It writes a list of numbers as a sum of waves. Each wave has a frequency: how often "
        "it goes up and down along the list. The transform gives each wave's height."
    ),
    "free running": (
        "A model writes, and it reads its own tokens as it goes on. In training, it reads the "
        "right tokens instead. This is called teacher forcing."
    ),
    "Goodhart’s law": (
        "When a measure becomes a target, it stops being a good measure. A model that is rewarded "
        "by a measure raises the measure, by any way that it finds."
    ),
    "gradient": (
        "For each weight, how fast the loss rises if that weight grows a little: the slope of the "
        "loss."
    ),
    "gradient checkpointing": (
        "Training with less memory, also called recomputation. Only a few results of the forward "
        "pass are kept. The rest is computed again when the backward pass needs it."
    ),
    "Euclidean distance": (
        "The length of the straight line between the tips of two vectors. It is the root of the "
        "sum of their squared differences."
    ),
    "greedy": "Always taking the most probable token.",
    "grokking": (
        "A model first knows its examples by heart. Much later in the same training it also "
        "comes to be right on new ones."
    ),
    "grouped-query attention": (
        "Attention in which several heads of queries share one head of keys and values, so that "
        "the cache is smaller. With one head of keys for all it is called multi-query attention."
    ),
    "GRPO": (
        "Group relative policy optimisation: a way to learn from rewards. A model writes several "
        "answers to each prompt. The advantage of an answer is its reward minus the mean of its "
        "group, divided by the group's standard deviation."
    ),
    "hallucination": (
        "A sentence of a model that reads well and is false, such as an invented fact. The model "
        "goes on as its texts do, whether it knows the fact or not."
    ),
    "head": (
        "One of several attentions that run side by side in a layer, each with its own "
        "queries. In most models each has its own keys and values, too. Another thing with this "
        "name is the last matrix of a model, which makes logits."
    ),
    "hidden Markov model": (
        "A model of a sentence with two tables. One says how likely each tag is after each tag, "
        "the other how likely each word is for each tag. The tags are hidden, and the words are "
        "seen."
    ),
    "induction": (
        "What some heads do: such a head looks for the same token earlier in the text. Then it "
        "takes information from the token that followed there."
    ),
    "input–target pair": (
        "A window of tokens, and the same window moved on by one place. At each place, the model "
        "must predict the target from the inputs up to this place."
    ),
    "key": "A vector of each token. Queries are compared with it.",
    "kernel (program)": (
        "A small program for one operation on one kind of processor. One example is the product of "
        "a vector with a matrix of 8-bit codes."
    ),
    "KL divergence": (
        "How far one probability distribution is from another, in nats (after Kullback and "
        "Leibler). It is 0 if they are the same."
    ),
    "k-means": (
        "A way to find k clusters. Each point goes to the nearest of k centres. Each centre moves "
        "to the mean of its points. This is repeated until nothing changes."
    ),
    "Kneser–Ney": (
        "A way to smooth a table of counts. For a shorter context, it does not count how often a "
        "token follows. It counts how many different longer contexts the token follows."
    ),
    "KV cache": (
        "The keys and values of the tokens that were already read. They are kept, so that they "
        "need not be computed again for the next token."
    ),
    "layer norm": (
        "Brings the numbers of each token to mean 0 and variance 1. Then each column is multiplied "
        "by a learned scale, and a learned shift is added."
    ),
    "layer": (
        "In a transformer, one block: attention, then a feed-forward network. What each computes "
        "is added to the residual stream."
    ),
    "learning rate": (
        "The number that sets how far a step goes. Plain gradient descent multiplies the gradient "
        "by it. Optimizers such as Adam first compute an update from the gradients, and then "
        "multiply this update by it."
    ),
    "lemma": "The form of a word that a dictionary lists: go for goes, went and gone.",
    "logit lens": (
        "The residual stream after some layer, read with the final norm and the output matrix. It "
        "shows what the model would predict if it stopped there."
    ),
    "logits": (
        "The scores that the model gives to all tokens of the vocabulary, before softmax. A "
        "classifier gives them to its classes."
    ),
    "LoRA": (
        "Low-rank adaptation. A trained matrix is frozen, and a change to it is learned. This "
        "change is the product of two thin matrices."
    ),
    "masked-word model": (
        "An encoder that is trained to predict a hidden word. It sees the words on both sides of "
        "it."
    ),
    "merge": (
        "A learned BPE rule: these two neighbouring tokens become this one. Its rank is its "
        "place in the order in which the rules were learned."
    ),
    "micro-batch": (
        "A part of a batch that goes through the model by itself. The gradients of all parts are "
        "added up before the weights are changed."
    ),
    "min-p": (
        "Keep the tokens whose probability is at least this share of the largest one. Drop the "
        "rest, and scale what is kept to a sum of 1."
    ),
    "mixed precision": (
        "Training in which large products are computed with 16 bits, while the weights and the "
        "optimizer's state stay in 32 bits."
    ),
    "mixture of experts": (
        "A layer with several feed-forward networks. A router sends each token to a few of them."
    ),
    "measure": (
        "In Porter's stemmer, it is how many times a consonant follows a vowel in the part of a "
        "word before an ending. Many rules ask for a large enough measure, so that short words are "
        "not cut."
    ),
    "n-gram": "A run of n words, or tokens, that follow each other in a text.",
    "nats": (
        "The unit of loss and entropy if the natural logarithm is used; 1 nat is about 1.44 bits."
    ),
    "one-hot": (
        "A one-hot vector has a single 1 and is 0 everywhere else. Multiplied by a table, it picks "
        "one row."
    ),
    "out of vocabulary": (
        "A word is out of vocabulary if a word tokenizer has no token for it: it becomes <|unk|>. "
        "A byte-level tokenizer can write every word, if necessary in single bytes."
    ),
    "padding": (
        "A special token that is added to short texts, so that all texts of a batch are equally "
        "long. Attention and loss leave it out."
    ),
    "paged attention": (
        "Attention over keys and values that lie in blocks of equal size instead of in one piece. "
        "Memory is given a block at a time, and equal beginnings can share blocks."
    ),
    "pass@k": (
        "The chance that at least one of k samples is right. It is estimated from more than k "
        "samples of each question."
    ),
    "passage": (
        "A part of a document, such as two or three sentences. Documents are cut into passages so "
        "that a search finds the part that answers a question."
    ),
    "PCA": (
        "Principal component analysis. It moves the mean of all points to 0 and turns the points "
        "so that they spread most along the first axes. A map keeps two or three axes and leaves "
        "out the rest."
    ),
    "overfitting": (
        "A model gets better at its training texts and worse at new ones: it learns by heart."
    ),
    "percentile": (
        "The 90th percentile of some values is the smallest of them for which this is true: at "
        "least 90 of 100 values are not larger. The 50th percentile is the value in the middle."
    ),
    "path patching": (
        "Activation patching of one connection: a single part of a model reads what another part "
        "computed for another text. All other parts read what they read before."
    ),
    "perplexity": (
        "e to the power of the mean loss in nats. A model that gives the same probability to each "
        "of 10 tokens has a perplexity of 10."
    ),
    "policy": (
        "In reinforcement learning, the probabilities with which a model chooses what it does. The "
        "policy of a language model is its probabilities of the next token."
    ),
    "policy gradient": (
        "The gradient of the mean reward. It is estimated from drawn answers: the advantage of "
        "each, times the gradient of the logarithm of its probability."
    ),
    "post-norm": (
        "A norm after each addition to the residual stream, as in the transformer of 2017."
    ),
    "PPO": (
        "Proximal policy optimisation: a way to learn from rewards that uses the same samples for "
        "several updates. Where a token has become much more or much less probable, it is clipped: "
        "more of that brings nothing."
    ),
    "pre-norm": (
        "A norm before attention and before the feed-forward network. The results of both are "
        "added to the residual stream, which is not normalised itself."
    ),
    "pre-token": (
        "A piece of text, roughly a word with the space before it. BPE merges only inside such "
        "pieces. Merges never cross their borders."
    ),
    "prefill": (
        "The reading of a prompt. All its tokens go through the model in one pass, and their keys "
        "and values are put into the cache."
    ),
    "preemption": (
        "A request that is being served must give its memory back, so that older ones can go on. "
        "It waits, and continues later where it was."
    ),
    "pretraining": (
        "The first and longest training of a language model. The model reads many texts and learns "
        "to predict each next token."
    ),
    "probe": (
        "A small model, mostly one linear layer, that learns to read something from the vectors of "
        "another model. The other model is not changed."
    ),
    "prompt injection": (
        "Instructions, or tokens of a chat template, inside a text that a model was only meant to "
        "read. To the model they are part of its prompt as all else is, so it may follow them."
    ),
    "quantization": (
        "Rounding weights to the values of a grid. For each weight, only a code of a few bits is "
        "kept. It says which value of the grid the weight has."
    ),
    "query": (
        "The vector with which a token looks for other tokens. It is compared with their keys."
    ),
    "rank": (
        "Of a merge: its place in the order of learning. The merge of lowest rank is applied "
        "first. Of a matrix: the smallest number of products of a column and a row whose sum is "
        "the matrix."
    ),
    "recall at k": (
        "The share of questions whose right passage is among the first k that a search finds."
    ),
    "reduce-scatter": (
        "An operation of several processes. Before it, each has numbers. After it, each has one "
        "part of the sums of these numbers over all processes."
    ),
    "REINFORCE": (
        "The plainest way to learn from rewards: each drawn answer is made more probable in "
        "proportion to its advantage, once."
    ),
    "repetition penalty": (
        "Before the draw, tokens that are in the text already are made less probable."
    ),
    "residual stream": (
        "The vector of a token on its way through the layers. Each layer reads it and adds to it."
    ),
    "retrieval-augmented generation": (
        "Search first, then answer: parts of documents that fit a question are put before it, and "
        "a model answers from them. RAG for short."
    ),
    "RMSNorm": (
        "Divides the numbers of each token by the root of their mean square. Unlike layer norm, it "
        "does not subtract the mean and has no shift."
    ),
    "reward model": (
        "A model that gives a text one number, the reward. It learns from pairs of texts of which "
        "somebody preferred one."
    ),
    "roofline": (
        "A chart of how many operations per second a machine can do at most, for each arithmetic "
        "intensity. On its slope, the limit is how fast bytes are read. On its flat part, the "
        "limit is how fast the machine computes."
    ),
    "rotary positions": (
        "The queries and keys of a token are turned, two numbers at a time. The angle grows with "
        "the position of the token."
    ),
    "self-consistency": (
        "A model answers the same question several times by chance, and the most frequent answer "
        "is taken. It takes away mistakes that differ from try to try."
    ),
    "skip-gram": (
        "The form of word2vec that predicts, from a word, the words around it. Each word has two "
        "vectors. Training moves the first vector of a word towards the second vectors of the "
        "words around it."
    ),
    "sliding window": (
        "The rule that a token may look only at itself and at a fixed number of tokens before it."
    ),
    "smoothing": (
        "Changing counts so that something that was never seen is improbable, but not impossible. "
        "The simplest way is to add a small number to every count."
    ),
    "soft target": (
        "A whole distribution over tokens as the target of a prediction, such as that of a larger "
        "model. A hard target is the one token that came."
    ),
    "softmax": (
        "Turns any scores into probabilities: e to the power of each score, divided by the sum."
    ),
    "sparse autoencoder": (
        "A small network that writes each vector as the sum of a few directions out of many. It "
        "learns the directions by making the error of these sums small."
    ),
    "special token": (
        "A token that is not a piece of text. It marks something: the end or the start of a text, "
        "padding, or an unknown word."
    ),
    "speculative decoding": (
        "A way to write faster: something small and fast, the draft, guesses several tokens. The "
        "model checks all of them in one pass and keeps those before the first that it rejects. "
        "Each token has the same probability as if the model had written alone."
    ),
    "start token": (
        "A special token before the first token of a text. From it the model predicts the first "
        "token. In this app's own models it is <|endoftext|>. An imported model has its own, or "
        "none."
    ),
    "steering": (
        "A vector is added inside a model while it reads and writes, to change what it writes. The "
        "weights stay as they are."
    ),
    "stem": "The part of a word that is left when its endings are cut off. It need not be a word.",
    "straight-through estimator": (
        "A rule for gradients through rounding. The slope of rounding is 0 nearly everywhere, so "
        "the backward pass uses 1 instead. Where a value was cut off at an end of the grid, it "
        "uses 0."
    ),
    "stride": "How many tokens the window moves from one training example to the next.",
    "subnormal number": (
        "A very small floating-point number. Its exponent is the lowest one, and the digit before "
        "the point is 0, not 1. The smaller it is, the fewer digits it has."
    ),
    "sub-word": "A token that is a piece of a word, such as a stem or an ending.",
    "superposition": (
        "A vector holds more features than it has numbers. Their directions are not at right "
        "angles, so each feature adds a little to what is read of others."
    ),
    "SwiGLU": (
        "A feed-forward network with a gate. One number goes through x · sigmoid(x). The result is "
        "multiplied by a second number, which comes from a matrix of its own."
    ),
    "tf-idf": (
        "Term frequency, inverse document frequency. How often a word occurs in a document is "
        "multiplied by a number that is larger if fewer documents have the word, such as "
        "ln(D ÷ df) for a word in df of D documents. It is high for words that are typical of a "
        "document."
    ),
    "t-SNE": (
        "t-distributed stochastic neighbour embedding: a map that keeps near points near. Large "
        "distances, sizes of clusters and the gaps between clusters mean little on it."
    ),
    "teacher forcing": (
        "In training, the model reads the right tokens up to each place, not the tokens that it "
        "would have written itself."
    ),
    "temperature": (
        "Logits are divided by this number before softmax. Below 1, the most probable token "
        "becomes more probable. Above 1, the probabilities become more equal."
    ),
    "throughput": (
        "How much work is done in a second, for all requests together. Here it is the number of "
        "tokens that are written per second."
    ),
    "time to first token": (
        "The seconds from the arrival of a request to the first token of its answer."
    ),
    "token": (
        "Language models read and write tokens. A token can be a word, a piece of a word, a "
        "character or a byte."
    ),
    "token id": "The number of a token in the vocabulary. It is a name, not a quantity.",
    "tool call": (
        "Tokens of a model that ask a program for something, such as the result of a calculation. "
        "The program writes its result behind them, and the model goes on."
    ),
    "top-k": (
        "Keep the k most probable tokens. Drop the rest, and scale what is kept to a sum of 1."
    ),
    "top-p": (
        "Keep the most probable tokens: as few as are needed to reach a probability of p together. "
        "Drop the rest, and scale what is kept to a sum of 1."
    ),
    "transfer learning": (
        "A model learned one task, and what it learned is used for another task. So training does "
        "not begin with random weights."
    ),
    "trustworthiness": (
        "How far the neighbours on a map are true ones, from 0 to 1. It is lower if points are "
        "side by side on the map although they are really far apart."
    ),
    "UMAP": (
        "Uniform manifold approximation and projection: a map like the map of t-SNE, drawn from a "
        "graph of nearest neighbours."
    ),
    "unit": (
        "One of the numbers inside a feed-forward network, between its two matrices. It fires on a "
        "token if it is above 0 before the activation function."
    ),
    "value": "The vector that a token gives to the tokens that attend to it.",
    "Viterbi": (
        "An algorithm that finds the most probable sequence of tags of a hidden Markov model. For "
        "each word and tag, it keeps only the best sequence that ends there."
    ),
    "vocabulary": (
        "The list of all tokens that a tokenizer knows; its length is the vocabulary size."
    ),
    "weight decay": (
        "At each step of training all weights are made a little smaller, besides what the "
        "gradient does. Its number says how much."
    ),
    "WordPiece": (
        "A tokenizer like BPE with another rule: it joins the pair whose count is highest compared "
        "with the counts of its two parts. Pieces inside a word are written with ## in front."
    ),
    "word2vec": "Vectors of words. They are learned by predicting which words are near each other.",
    "zero point": (
        "The code that stands for the weight 0 on an asymmetric grid. It is subtracted from a code "
        "before the result is multiplied by the step."
    ),
    "Zipf's law": (
        "In long texts that people wrote, the word of rank r occurs about 1/r times as often as "
        "the most frequent word."
    ),
    "Adam": (
        "An optimizer. For each weight it keeps two running averages, of its gradients and of "
        "their squares. The step is the learning rate times the first, divided by the root of the "
        "second. AdamW also pulls each weight a little towards 0 at each step."
    ),
    "backpropagation": (
        "The way in which the gradients of a whole network are computed. It begins at the loss "
        "and goes back from step to step, multiplying the slopes on the way."
    ),
    "batch norm": (
        "A step that brings each unit's numbers to mean 0 and deviation 1 over the texts of a "
        "batch, and then scales and shifts each unit. After training, it uses averages that it "
        "kept."
    ),
    "BERT": (
        "Bidirectional Encoder Representations from Transformers (2018): a masked-word model. "
        "It reads a text from both sides and writes no texts."
    ),
    "confidence interval": (
        "A range around a measured mean. It is made so that, over many such measurements, a 95 % "
        "interval holds the true mean in 95 of 100 cases."
    ),
    "seed": (
        "The number that a row of random numbers starts from. In training, the first weights and "
        "the order of the text follow from it. The same seed gives the same run again."
    ),
    "epoch": ("One pass of training through all texts of the training set."),
    "GELU": (
        "Gaussian Error Linear Unit: an activation function. It is x times the probability that "
        "a number drawn from the normal distribution with mean 0 and deviation 1 is below x. So it "
        "is a smooth relative of ReLU."
    ),
    "GPT": (
        "Generative Pre-trained Transformer: a transformer that reads from left to right and "
        "predicts the next token. GPT-2 (2019) and GPT-3 (2020) are larger ones, by OpenAI."
    ),
    "GRU": (
        "Gated Recurrent Unit: a recurrent network (RNN) whose gates decide how much of the old "
        "state is kept and how much is replaced."
    ),
    "initialisation": (
        "The choice of the weights that training begins with. Most are small random numbers. If "
        "they are too large or too small, training is slow or fails."
    ),
    "label smoothing": (
        "A change of the loss in training: a small share of each target is spread over all tokens "
        "evenly, so that the model is never asked to be quite sure."
    ),
    "loss": (
        "A number that says how bad a model's predictions are; training makes it smaller. For "
        "language models it is the cross-entropy: the mean of −ln p, where p is the probability "
        "that the model gave to the token that came."
    ),
    "LSTM": (
        "Long Short-Term Memory: a recurrent network (RNN) with a second vector, its cell. "
        "Gates decide what is written into the cell, kept in it and read from it."
    ),
    "MLP": (
        "Multi-layer perceptron: layers one behind the other, where each output is computed "
        "from all inputs, with an activation function between them. In a transformer it is the "
        "feed-forward network of a layer."
    ),
    "optimizer": ("The rule that turns gradients into new weights, such as SGD or Adam."),
    "parameter": (
        "A number that training sets: a weight, a bias, a number of an embedding or of a norm. "
        "A model's size is said as its count of parameters."
    ),
    "ReLU": (
        "Rectified Linear Unit: an activation function. A number above 0 stays as it is, any "
        "other becomes 0."
    ),
    "RNN": (
        "Recurrent neural network: it reads a text token by token and carries a vector, its "
        "state, from each to the next. Here the name alone means the simplest kind, without "
        "gates."
    ),
    "SGD": (
        "Stochastic gradient descent: the optimizer that subtracts learning rate times gradient "
        "from each weight. The gradient is that of one batch, which is drawn by chance."
    ),
    "temperature scaling": (
        "All logits are divided by one temperature, the one that gives the lowest loss on texts "
        "kept apart. It changes how sure a model is, and never which token comes first."
    ),
    "test set": (
        "Texts that are used only at the very end, once all choices are made. Nothing was "
        "learned from them, and nothing was chosen by them."
    ),
    "transformer": (
        "A network of layers, each with attention and a feed-forward network, whose outputs are "
        "added to the vectors of the tokens. Almost all language models today are transformers."
    ),
    "validation loss": (
        "The loss on texts that the model does not learn from. It shows whether the model "
        "learned something general or only its training texts."
    ),
    "weight": (
        "A number that an input is multiplied by. Training changes it. Attention weights are "
        "something else: they are computed anew for each text."
    ),
    "∂": (
        "The sign of a partial derivative: ∂L/∂w says how fast L changes with w alone, while "
        "all other numbers stay as they are."
    ),
    "∇": (
        "The sign of a gradient (“nabla”): ∇L is the list of the partial derivatives of L, one "
        "for each weight."
    ),
}


# Names and signs, also of axes and lists: a chapter that has one explains it at its top.
SHORT = ("BERT", "epoch", "GELU", "GPT", "GRU", "LSTM", "MLP", "ReLU", "RNN", "SGD", "∂", "∇")
_SHORT = {name: re.compile(rf"(?<!\w){name}s?(?!\w)" if name.isalpha() else name) for name in SHORT}


def short_names(texts: Iterable[str]) -> list[str]:
    """Return which of the names in `SHORT` stand in texts of a document, code left out."""
    whole = "\n".join(_CODE.sub("", text) for text in texts)
    return [name for name, pattern in _SHORT.items() if pattern.search(whole)]


def define(term: str) -> str:
    """Return the explanation of a term.

    Raises KeyError: the term is not in the glossary.
    """
    return TERMS[term]
