// Back, play, next and a scrubber over the steps of a trace; nothing here asks the server.

import { el, isCalm, later, remember, remembered, svg } from "./common.js";
import { whole } from "./numbers.js";
import { moveThumb } from "./slider.js";
import { worded } from "./worded.js";

// The player of a picture that draws one step at a time and keeps where the hand left it as "step".
export function stepPlayer(root, send, draw, pace) {
  return makePlayer(root, { onStep: draw, onCommit: (step) => send("step", step), pace });
}

// The first step stays for `lead` ms, each other for `pace`. onStep follows the hand; onCommit tells
// Python once the hand has come to rest.
export function makePlayer(root, { onStep, onCommit, pace = 900, lead = 250 }) {
  const bar = el("div", "player", null, { role: "group", "aria-label": worded("steps") });
  const back = iconButton("M11 3 5 8l6 5z M3 3h1.6v10H3z", worded("one step back"));
  const play = iconButton("M4 3l9 5-9 5z", worded("play"));
  const next = iconButton("M5 3l6 5-6 5z M11.4 3H13v10h-1.6z", worded("one step on"));
  const range = el("input", "scrub", null, { type: "range", min: 0, value: 0, "aria-label": worded("step") });
  const count = el("span", "count num");
  const speed = el("button", "speed num", "1×", { type: "button", "aria-label": worded("speed"), title: worded("speed") });
  bar.append(back, play, next, range, count, speed);
  root.appendChild(bar);
  const commit = later(onCommit, 350);
  const player = { bar, step: 0, last: -1, playing: false, timer: 0, factor: 1 };

  player.set = (step, quiet) => {
    const to = Math.max(0, Math.min(player.last, step));
    const changed = to !== player.step;
    player.step = to;
    moveThumb(range, to, player.last);
    count.textContent = player.text ? player.text(to) : `${whole(to)} / ${whole(player.last)}`;
    back.disabled = to === 0;
    next.disabled = to === player.last;
    range.setAttribute("aria-valuetext", player.label ? player.label(to) : worded("step {at} of {last}", { at: to, last: player.last }));
    if (changed) onStep(to);
    if (changed && !quiet && !player.playing) commit(to);
  };

  player.configure = (last, step, options = {}) => {
    player.stop();
    if (step !== player.step) commit.cancel();
    player.last = last;
    player.label = options.label;
    player.text = options.text;
    speed.hidden = !options.speeds;
    player.speeds = options.speeds ?? [1];
    const asked = remembered(bar, "speed");
    player.factor = player.speeds.includes(asked) ? asked : (options.usual ?? player.speeds[0]);
    speed.textContent = `${player.factor}×`;
    range.max = last;
    player.step = -1;
    player.set(step, true);
  };

  // Stand at a step of a trace that may have come anew; one that goes on as it was is not stopped.
  player.stand = (last, step, options) => {
    if (player.last !== last || player.step < 0) player.configure(last, step, options);
    else player.set(step, true);
  };

  player.stop = () => {
    if (!player.playing) return;
    player.playing = false;
    clearTimeout(player.timer);
    setIcon(play, "M4 3l9 5-9 5z", worded("play"));
    commit(player.step);
  };

  const move = (step) => {
    player.stop();
    player.set(step);
  };

  const tick = () => {
    // Above one step a frame the film skips on, but every step can be reached by hand.
    const wait = pace / player.factor;
    player.set(player.step + Math.max(1, Math.round(16 / wait)), true);
    if (player.step >= player.last) return player.stop();
    player.timer = setTimeout(tick, Math.max(16, wait));
  };

  // With less motion a press is one step.
  player.toggle = () => {
    if (player.playing) return player.stop();
    if (isCalm()) return move(player.step + 1);
    if (player.step >= player.last) player.set(0, true);
    player.playing = true;
    setIcon(play, "M4 3h3v10H4z M9 3h3v10H9z", worded("pause"));
    player.timer = setTimeout(tick, Math.min(lead, pace / player.factor));
  };

  back.onclick = () => move(player.step - 1);
  next.onclick = () => move(player.step + 1);
  play.onclick = player.toggle;
  range.oninput = () => move(Number(range.value));
  speed.onclick = () => {
    const at = player.speeds.indexOf(player.factor);
    player.factor = player.speeds[(at + 1) % player.speeds.length];
    remember(bar, "speed", player.factor);
    speed.textContent = `${player.factor}×`;
  };
  player.key = (event) => {
    const to = {
      ArrowLeft: player.step - 1,
      ArrowRight: player.step + 1,
      PageUp: player.step - Math.ceil(player.last / 10),
      PageDown: player.step + Math.ceil(player.last / 10),
      Home: 0,
      End: player.last,
    }[event.key];
    if (event.key === " " && event.target.tagName !== "BUTTON") player.toggle();
    else if (to !== undefined) move(to);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  bar.addEventListener("keydown", player.key);
  player.move = move;
  return player;
}

function iconButton(path, label) {
  const button = el("button", "icon", null, { type: "button" });
  setIcon(button, path, label);
  return button;
}

function setIcon(button, path, label) {
  const picture = svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" });
  picture.appendChild(svg("path", { d: path, fill: "currentColor" }));
  button.replaceChildren(picture);
  button.setAttribute("aria-label", label);
  button.title = label;
}
