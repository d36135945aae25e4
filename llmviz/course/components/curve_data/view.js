// The arrays of one run, put where the chart finds them; nothing is seen of this.

import { live } from "../_shared/common.js";
import { curveStore } from "../_shared/curve_store.js";

export default function (component) {
  return live(component, () => new CurveRun());
}

class CurveRun {
  update(data) {
    this.data = data;
    curveStore.held.set(data.store, data);
    for (const listener of curveStore.listeners) listener();
  }

  destroy() {
    if (curveStore.held.get(this.data.store) === this.data) curveStore.held.delete(this.data.store);
  }
}
