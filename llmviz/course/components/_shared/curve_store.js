// Where the arrays of runs lie that charts on this page draw: by the key that Python gave them.
// They come one by one, so that a run that grows or joins does not bring all others along.

export const curveStore = (globalThis.llmvizCurveStore ??= { held: new Map(), listeners: new Set() });

// The step that the scrubber of the chart stands at, for what is drawn beside it.
export function tellStep(step) {
  curveStore.step = step;
  for (const listener of curveStore.listeners) listener();
}
