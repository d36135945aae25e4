// Two models that learn in the page: its controls, its curve, and what the GPT writes.

import { eachFrame, el } from "../../components/_shared/common.js";
import { unpack } from "../../components/_shared/message.js";
import { fixed, local, whole } from "../../components/_shared/numbers.js";
import { forgetTraining, keepTraining, keptTraining } from "./kept_training.js";
import { learner, serve } from "./learner.js";
import { divided, MOST } from "./learning.js";
import { drawLosses } from "./loss_chart.js";
import { say } from "./said.js";

export { serve };

const OF_NAMES = "A letter of new names costs the GPT {gpt} nats, the letter-pair network {pairs} and counting pairs {counted}.";
const OF_OWN =
  "A letter that your text held out costs the GPT {gpt} nats, the letter-pair network {pairs} and counting pairs {counted}. Held out is its end, or every tenth line.";
const RATES = [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1];
const SIZES = [
  { layers: 1, width: 16 },
  { layers: 2, width: 32 },
  { layers: 2, width: 48 },
];
const POINTS = 600; // of the curve; of more, every other one is dropped
const ROWS = 12; // of what it wrote
const WATCH = 2000; // milliseconds; after SILENT of them without a word a worker counts as lost
const SILENT = 10;
const SHORT_TURN = 40; // milliseconds that the page itself learns before it looks at its controls
const KEPT = "llmviz-train";
const LITTLE = 2; // gigabytes of memory: such a device begins with the smallest GPT

export function start({ names }) {
  const site = globalThis.llmvizSite;
  const at = (name) => document.getElementById(`train-${name}`);
  const tell = (text) => (at("told").textContent = text);
  const own = () => at("own").checked;
  let texts = null; // the names, when they have come
  let hear = null; // what is learning now
  let worker = null;
  let kept = null; // from where it can go on
  let plan = null;
  let going = false;
  let silent = 0;
  let seed = 1;
  let below = false;
  let told = { reports: [] };
  const made = globalThis.llmvizTrain.source.length; // another script may keep something else

  const done = () => told.reports.at(-1)?.step ?? 0; // steps

  // ---- what learns: a worker, or this page

  function open() {
    hear = null;
    try {
      worker = new Worker(URL.createObjectURL(new Blob([`(${globalThis.llmvizTrain.source})().serve(self)`])));
      const mine = worker;
      worker.onmessage = ({ data }) => mine === worker && take(data);
      worker.onerror = () => mine === worker && lost();
      hear = (message) => mine.postMessage(message);
    } catch {
      here();
    }
  }

  function here() {
    worker?.terminate();
    worker = null;
    tell(say("This browser gives the page no worker. It learns all the same, but only while you look at it."));
    hear = learner((report) => take(report), SHORT_TURN);
  }

  function lost() {
    const never = !kept;
    worker?.terminate();
    worker = null;
    hear = null;
    if (never) {
      here();
      return hear({ plan, going });
    }
    going = false;
    const { step } = kept;
    const from = { step: whole(step) };
    const again = step ? say("“Go on” continues from step {step}, the last one that was kept.", from) : say("“Start” begins again.");
    tell(`${say("The browser stopped what was learning.")} ${again}`);
    told.reports = told.reports.filter((report) => report.step <= step);
    show();
  }

  setInterval(() => {
    if (going && worker && ++silent >= SILENT) lost();
  }, WATCH);

  // ---- what it tells

  function take(report) {
    silent = 0;
    if (report.kept) kept = report.kept;
    if (report.numbers) Object.assign(told, { counted: report.counted, blind: report.blind, numbers: report.numbers });
    const reports = told.reports;
    if (report.step || !reports.length) reports.push({ ...report, kept: null });
    if (reports.length > POINTS) told.reports = reports.filter((one, i) => one.measured || i % 2 || i === reports.length - 1);
    const loss = report.measured?.losses[0];
    if (!below && loss < told.counted && report.step) {
      below = true;
      tell(
        say("At step {step} the GPT fell below the dashed line of counted pairs, which see only the letter before.", {
          step: whole(report.step),
        }),
      );
    }
    if (report.kept && report.step) keepTraining({ made, plan, kept, told, seed, below }).then(() => limit("learned"), unkept);
    show();
  }

  // What this browser cannot do is said for as long as it cannot.
  const limits = {};
  function limit(what, text = "") {
    limits[what] = text;
    at("limits").textContent = Object.values(limits).join(" ").trim();
  }
  const unkept = () => limit("learned", say("This browser does not keep what was learned: after a reload it begins from nothing."));

  // Where the last visit ended.
  async function again() {
    const found = await keptTraining();
    if (plan || found?.made !== made) return;
    ({ plan, kept, told, seed, below } = found);
    tell(
      say("Kept from your last visit: {steps} steps. “Go on” continues, and “Again, from nothing” forgets them.", { steps: whole(done()) }),
    );
    show();
  }

  const show = eachFrame(() => {
    at("go").textContent = say(going ? "Pause" : done() ? "Go on" : "Start");
    at("again").disabled = !done();
    if (!told.reports.length) return;
    drawLosses(at("picture"), told);
    const measured = told.reports.filter((one) => one.measured);
    const step = done();
    const { pace, seconds } = told.reports.findLast((report) => report.pace) ?? {};
    const [gpt, pairs] = measured.at(-1).measured.losses;
    const given = { gpt: fixed(gpt, 2), pairs: fixed(pairs, 2), counted: fixed(told.counted, 2) };
    const now = say(plan.own ? OF_OWN : OF_NAMES, given);
    const speed = { step: whole(step), pace: fixed(pace ?? 0, pace < 10 ? 1 : 0), seconds: whole(Math.round(seconds ?? 0)) };
    const fast = step ? `${say("Step {step}, {pace} steps a second, {seconds} seconds.", speed)} ` : "";
    at("now").textContent = `${fast}${now} ${say("The GPT has {count} weights.", { count: whole(told.numbers) })}`;
    at("picture").setAttribute("aria-label", `${say("Losses over the steps.")} ${now}`);
    written(measured);
  });

  // What it wrote: now, and at steps that double back to the first one.
  function written(measured) {
    const rows = [measured.at(-1)];
    for (const one of measured.toReversed()) if (2 * one.step <= rows.at(-1).step && one.step < rows.at(-1).step) rows.push(one);
    if (rows.at(-1) !== measured[0]) rows.push(measured[0]);
    at("written").replaceChildren(
      ...rows.slice(0, ROWS).map(({ step, measured: { losses, samples } }) => {
        const row = el("tr");
        const cell = el("td", "samples");
        for (const { text, known } of samples) {
          const sample = el("span", known ? "sample known" : "sample", text || say("(nothing)"));
          if (known) sample.title = say("it learned from this one");
          cell.append(sample, " ");
        }
        row.append(el("th", "number", whole(step)), el("td", "number", fixed(losses[0], 2)), cell);
        row.firstChild.scope = "row";
        return row;
      }),
    );
  }

  // ---- the controls

  const size = () => SIZES[at("size").value];
  const rate = () => RATES[at("rate").value];

  function labels() {
    at("rate-now").textContent = local(String(rate()));
    at("size-now").textContent = say(size().layers === 1 ? "1 layer, {width} wide" : "{layers} layers, {width} wide", size());
    at("text").hidden = at("text-label").hidden = !own();
  }

  // What is to be learned now; null where the text is too short, which is said.
  function planned() {
    try {
      const cut = [...at("text").value].length > MOST;
      const found = own() ? divided(at("text").value) : texts;
      tell(own() && cut ? say("Your text is long: it learns from the first {count} characters.", { count: whole(MOST) }) : "");
      return { ...found, ...size(), rate: rate(), seed, own: own() };
    } catch (error) {
      tell(`${error.message} ${say("Paste some lines more, or choose the names.")}`);
      return null;
    }
  }

  // Begin from nothing. runs: learn at once; else only show what there is before the first step.
  function begin(runs) {
    const next = planned();
    if (!next) return;
    worker?.terminate();
    hear?.({ going: false });
    [plan, kept, below, going, silent] = [next, null, false, runs, 0];
    told = { reports: [] };
    forgetTraining().catch(() => {});
    open();
    hear({ plan, going });
    show();
  }

  at("go").addEventListener("click", () => {
    if (!plan || (!done() && !going)) return begin(true);
    going = !going;
    silent = 0;
    if (hear) hear({ going });
    else {
      open();
      hear({ plan: { ...plan, rate: rate() }, kept, going });
    }
    show();
  });
  at("again").addEventListener("click", () => {
    seed++;
    begin(true);
  });
  at("rate").addEventListener("input", () => hear?.({ rate: rate() }));
  const fresh = () => {
    if (!done() && !own()) begin(false);
    else if (done()) tell(say("This takes effect when you press “Again, from nothing”."));
    else tell("");
  };
  for (const name of ["size", "own", "names"]) at(name).addEventListener("change", fresh);

  // What was typed and set stays in this browser, where it keeps anything.
  const settings = ["text", "rate", "size"];
  function keep() {
    labels();
    try {
      const values = Object.fromEntries(settings.map((name) => [name, at(name).value]));
      localStorage.setItem(KEPT, JSON.stringify({ ...values, own: own() }));
      limit("text");
    } catch {
      limit("text", say("This browser does not keep your text: copy it before you leave the page."));
    }
  }
  if (navigator.deviceMemory <= LITTLE) {
    at("size").value = 0;
    limit("memory", say("This device has little memory, so it begins with the smallest GPT."));
  }
  try {
    const values = JSON.parse(localStorage.getItem(KEPT) ?? "{}");
    for (const name of settings) if (name in values) at(name).value = values[name];
    at(values.own ? "own" : "names").checked = true;
  } catch {} // a browser that keeps nothing
  for (const name of [...settings, "own", "names"]) at(name).addEventListener("input", keep);
  labels();
  site.onTheme(show);
  addEventListener("resize", show);
  const asked = again().catch(() => {}); // a browser that keeps nothing
  site.data(names).then(
    async (message) => {
      texts = unpack(message);
      await asked;
      if (!plan && !own()) begin(false);
    },
    () => tell(say("The file of the names is missing. Paste a text of your own.")),
  );
}
