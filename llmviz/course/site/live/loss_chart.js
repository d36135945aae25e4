// The losses of two models that are learning, over their steps, and the loss of pair counts.

import { dot, font, frame, line, OPEN, plotIn, segment, ticks } from "../../components/_shared/chart.js";
import { fit, isDark, styles } from "../../components/_shared/common.js";
import { number, short } from "../../components/_shared/numbers.js";
import { say } from "./said.js";

const LEAST_STEPS = 100; // that the axis has room for
const SIDES = { left: 44, right: 14, top: 26, bottom: 40 };
const BESIDE = 150; // right of the lines, for their names; on a phone these stand over them
const NARROW = 560;
const HEIGHT = 300;
const INKS = ["--lv-loss-text", "--lv-query-text"];

// told: `reports` with step, `losses` on what was learned from and `measured`; `counted`, `blind`.
export function drawLosses(canvas, { reports, counted, blind }) {
  const width = canvas.parentElement.clientWidth;
  const pen = fit(canvas, width, HEIGHT);
  canvas.parentElement.classList.toggle("dark", isDark(canvas));
  const style = styles(canvas);
  const measured = reports.filter((one) => one.measured);
  const all = [counted, blind, ...measured.flatMap((one) => one.measured.losses)].filter(Number.isFinite);
  const low = Math.max(0, Math.min(...all) - 0.15);
  const steps = [0, Math.max(LEAST_STEPS, reports.at(-1)?.step ?? 0)];
  const plot = plotIn([width, HEIGHT], width < NARROW ? SIDES : { ...SIDES, right: BESIDE }, steps, [low, Math.max(...all) + 0.1]);
  const marks = (range, about) => ticks(range, about).map((value) => [value, short(value)]);
  frame(
    pen,
    style,
    plot,
    {
      x: { marks: marks(steps, Math.max(3, width / 130)), title: say("step") },
      y: { marks: marks([low, Math.max(...all)], 5), grid: "hair" },
    },
    OPEN,
  );
  pen.fillStyle = style("--lv-muted");
  pen.textAlign = "left";
  pen.fillText(say("loss, nats per letter"), 6, 14);
  pen.setLineDash([5, 4]);
  pen.strokeStyle = style("--lv-muted");
  for (const value of [counted, blind]) segment(pen, plot.left, plot.y(value), plot.right, plot.y(value));
  pen.setLineDash([]);
  const taught = reports.filter((one) => one.losses);
  pen.globalAlpha = 0.35;
  line(
    pen,
    plot,
    taught.map((one) => one.step),
    taught.map((one) => one.losses[0]),
    { color: style(INKS[0]), width: 1 },
  );
  pen.globalAlpha = 1;
  const labels = [
    [counted, `${say("counting pairs")} ${number(counted, 2)}`, style("--lv-muted")],
    [blind, `${say("blind guessing")} ${number(blind, 2)}`, style("--lv-muted")],
  ];
  for (const [which, color] of INKS.map((name, i) => [i, style(name)]).reverse()) {
    const [xs, ys] = [measured.map((one) => one.step), measured.map((one) => one.measured.losses[which])];
    line(pen, plot, xs, ys, { color, width: 2.4 });
    pen.fillStyle = color;
    for (const [i, y] of ys.entries()) dot(pen, plot.at(xs[i], y), ys.length > 60 ? 1.5 : 3);
    if (measured.length > 1) labels.push([ys.at(-1), `${which ? say("letter pairs") : "GPT"} ${number(ys.at(-1), 2)}`, color]);
  }
  named(pen, style, plot, labels);
}

// Names beside the ends of their lines, or over these; those that would meet make room for each other.
function named(pen, style, plot, labels) {
  const beside = plot.width - plot.right === BESIDE;
  pen.font = font(style, 12);
  pen.textAlign = beside ? "left" : "right";
  pen.textBaseline = "middle";
  labels.sort((a, b) => b[0] - a[0]);
  let above = -Infinity;
  const places = labels.map(([value]) => (above = Math.max(above + 15, plot.y(value) - (beside ? 0 : 10))));
  let below = plot.bottom + 8;
  for (let i = labels.length - 1; i >= 0; i--) below = places[i] = Math.min(places[i], below - 15);
  for (const [i, [, text, color]] of labels.entries()) {
    if (!beside) {
      const wide = pen.measureText(text).width;
      pen.fillStyle = style("--lv-surface");
      pen.fillRect(plot.right - wide - 6, places[i] - 7, wide + 6, 14);
    }
    pen.fillStyle = color;
    pen.fillText(text, plot.right + (beside ? 8 : -3), places[i]);
  }
}
