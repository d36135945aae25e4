// What a model says when one vector of a text is exchanged for that of another text, as `patch_map` of
// llmviz/interpretability/patching.py does it for the stream.

// The share that the second of two answers has of both. reader: has read the text, watched. lent: the vectors
// of a token of the other text, before each layer and after the last; it takes the place of token `at`. The
// tokens before it stay, so that what is kept of them serves again; those behind it enter the layer anew.
export function shareWith(reader, at, layer, lent, answers) {
  const { model, cache } = reader;
  const { seen, length, most } = cache;
  let end = seen.at(-1).vectors.at(-1);
  if (layer === model.config.n_layer) {
    if (at === length - 1) end = lent[layer];
  } else {
    const part = (all) => all.slice(0, (all.length / most) * length);
    const layers = cache.layers.map(({ keys, values }) => ({ keys: part(keys), values: part(values) }));
    const other = { ...cache, layers, watched: false, seen: [], length: at };
    for (let token = at; token < length; token++) model.through(other, (token === at ? lent : seen[token].vectors)[layer], layer);
    end = other.seen.at(-1).vectors.at(-1);
  }
  const vector = model.ended(end);
  const [one, two] = answers.map((id) => model.row(id).reduce((sum, number, i) => sum + number * vector[i], 0));
  return 1 / (1 + Math.exp(one - two));
}
