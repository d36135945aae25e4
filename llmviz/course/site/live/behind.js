// The page's end of an engine, which computes in a worker; where a browser gives none, in the page itself.

import { engine, Refused } from "./engine.js";
import { speaking } from "./said.js";

export { Refused };

export class Behind {
  // source: the page's own script as text, of which the worker is made: it exports `serve`. questions: as
  // of `engine`. hear: is given what is said without a question: `bytes`, `ready`, `unloaded`, `stopped`.
  constructor(source, questions, hear) {
    this.waiting = new Map();
    this.count = 0;
    const take = (report) => this.#take(report, hear);
    // A browser may keep a page that was left, and with it some 200 MB: who comes back opens it anew.
    addEventListener("pagehide", () => this.end());
    addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
    try {
      this.worker = new Worker(URL.createObjectURL(new Blob([`${speaking()}(${source})().serve(self)`])));
      this.worker.onmessage = ({ data }) => take(data);
      this.worker.onerror = (event) => {
        event.preventDefault();
        take({ stopped: event.message });
      };
      this.send = (message) => this.worker.postMessage(message);
    } catch {
      this.send = engine(questions, take);
    }
  }

  // The answer to a question. on: which model answers it, "small" or "real". tell: is given parts of it.
  // It never comes where another question came meanwhile. Throws Refused.
  ask(question, on, given, tell = () => {}) {
    return new Promise((resolve, reject) => {
      this.waiting.set(++this.count, { resolve, reject, tell });
      this.send({ question, on, given, number: this.count });
    });
  }

  end() {
    if (this.worker) this.worker.onmessage = this.worker.onerror = null; // what still comes is of nobody
    this.worker?.terminate();
    this.waiting.clear();
  }

  #take(report, hear) {
    const { number } = report;
    if (!number) return hear(report);
    const asked = this.waiting.get(number);
    if (!asked) return;
    if ("part" in report) return asked.tell(report.part);
    this.waiting.delete(number);
    if ("value" in report) asked.resolve(report.value);
    if (report.refused) asked.reject(new Refused(report.refused));
  }
}
