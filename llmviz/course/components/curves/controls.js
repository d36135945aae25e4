// What a chart of runs is drawn over, in which unit, how smooth: chosen without asking the server.

import { el } from "../_shared/common.js";
import { moveThumb } from "../_shared/slider.js";

const CHOICES = ["axis", "unit"];
const SWITCHES = ["logx", "logy"];
let groups = 0; // so that the radio buttons of two charts never belong together

export function makeCurveControls(root, onView, onCommit) {
  const box = el("div", "controls");
  root.appendChild(box);
  const controls = { view: null, weights: [0], fingerprint: "" };
  const group = `curves${groups++}`;
  const inputs = {};

  const choose = (name, value, rest = true) => {
    controls.view = { ...controls.view, [name]: value };
    onView(controls.view);
    if (rest) onCommit(controls.view);
  };

  const choice = (name, words) => {
    const field = el("fieldset", "choice");
    field.appendChild(el("legend", "muted", words[name].title));
    const row = el("div", "row");
    inputs[name] = {};
    for (const [value, text] of Object.entries(words[name].values)) {
      const label = el("label");
      const input = el("input", null, null, { type: "radio", name: `${group}.${name}`, value });
      input.onchange = () => choose(name, value);
      inputs[name][value] = input;
      label.append(input, el("span", null, text));
      row.appendChild(label);
    }
    field.appendChild(row);
    return field;
  };

  const slider = (words) => {
    const label = el("label", "mean", null, { title: words.mean.help });
    const value = el("span", "num");
    const title = el("span", "muted", words.mean.title);
    const range = el("input", "scrub", null, { type: "range", min: 0, step: 1, "aria-label": words.mean.title });
    const stop = (rest) => choose("mean", controls.weights[Number(range.value)], rest);
    range.oninput = () => stop(false);
    range.onchange = () => stop(true);
    inputs.mean = { range, value, none: words.mean.none };
    const top = el("div", "row");
    top.append(title, value);
    label.append(top, range);
    return label;
  };

  const tick = (name, words) => {
    const label = el("label", "tick");
    const input = el("input", null, null, { type: "checkbox" });
    input.onchange = () => choose(name, input.checked);
    inputs[name] = input;
    label.append(input, el("span", null, words[name]));
    return label;
  };

  controls.offer = (offered, weights, words) => {
    controls.weights = [0, ...weights];
    const fingerprint = JSON.stringify([offered, words]);
    if (fingerprint === controls.fingerprint) return;
    controls.fingerprint = fingerprint;
    for (const name in inputs) delete inputs[name];
    const parts = CHOICES.filter((name) => offered.includes(name)).map((name) => choice(name, words));
    if (offered.includes("mean")) parts.push(slider(words));
    const ticks = el("div", "ticks");
    ticks.append(...SWITCHES.filter((name) => offered.includes(name)).map((name) => tick(name, words)));
    if (ticks.children.length) parts.push(ticks);
    box.replaceChildren(...parts);
    box.hidden = !parts.length;
  };

  controls.show = (view) => {
    controls.view = view;
    for (const name of CHOICES) if (inputs[name]) inputs[name][view[name]].checked = true;
    for (const name of SWITCHES) if (inputs[name]) inputs[name].checked = view[name];
    if (!inputs.mean) return;
    const { range, value, none } = inputs.mean;
    const last = controls.weights.length - 1;
    range.max = last;
    moveThumb(range, controls.weights.indexOf(view.mean), last);
    value.textContent = view.mean ? String(view.mean) : none;
    range.setAttribute("aria-valuetext", value.textContent);
  };
  return controls;
}
