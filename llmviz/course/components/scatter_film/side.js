// Beside a map: what is near the chosen points, the curve of the film, the kinds of points.

import { dot, drag, font, line, plotIn, segment } from "../_shared/chart.js";
import { el, fit, styles, svg } from "../_shared/common.js";
import { number } from "../_shared/numbers.js";
import { CORNERS } from "./map.js";
import { neighbourRow } from "./names.js";

export class NearLists {
  constructor(onDrop) {
    this.box = el("div", "lists");
    this.onDrop = onDrop;
  }

  draw(data, step) {
    const parts = data.near.map((near) => this.list(data, near, step));
    if (!parts.length) parts.push(el("p", "muted hint", data.words.choose));
    this.box.replaceChildren(...parts);
  }

  list(data, near, step) {
    const box = el("div", "list");
    const head = el("div", "list-head");
    head.append(el("span", "muted", data.words.near), el("strong", null, data.labels[near.point]));
    const drop = el("button", "drop", "×", { type: "button", "aria-label": `${data.words.drop} ${data.labels[near.point]}` });
    drop.onclick = () => this.onDrop(near.point);
    head.appendChild(drop);
    box.appendChild(head);
    const ids = neighbourRow(near.ids, step);
    const values = neighbourRow(near.values, step);
    const rows = el("ol");
    ids.forEach((j, rank) => {
      const row = el("li");
      row.append(el("span", "who", data.labels[j]), el("span", "num muted", number(values[rank], 2)));
      rows.appendChild(row);
    });
    box.appendChild(rows);
    const wrong = near.false ? [...neighbourRow(near.false, step)].filter((j) => j >= 0) : [];
    if (wrong.length) {
      const line = el("p", "wrong");
      line.append(el("span", "muted", `${data.words.false} `), wrong.map((j) => data.labels[j]).join(", "));
      box.appendChild(line);
    }
    return box;
  }
}

const FILM = { tall: 84, left: 4, right: 4, top: 8, bottom: 16 };

// A number for each frame; pressing or dragging goes to a frame.
export class FilmCurve {
  constructor(root, onMove) {
    this.root = root;
    this.box = el("div", "curve");
    this.head = el("div", "title");
    this.value = el("span", "value num");
    this.canvas = el("canvas", null, null, { "aria-hidden": "true" });
    this.box.append(this.head, this.canvas);
    drag(this.canvas, (x) => onMove(Math.max(0, Math.min(this.last, Math.round(this.plot.x.value(x))))));
  }

  draw(curve, step, width) {
    this.box.hidden = !curve;
    if (!curve) return;
    this.last = curve.values.length - 1;
    const known = curve.values.filter((v) => v !== null);
    const high = Math.max(...known, 0) || 1;
    const low = Math.min(...known, high);
    const plot = plotIn([width, FILM.tall], FILM, [0, Math.max(1, this.last)], [low, high]);
    this.plot = plot;
    this.head.replaceChildren(curve.title, this.value);
    const now = curve.values[step];
    this.value.textContent = now === null ? "–" : number(now, 3);
    const pen = fit(this.canvas, width, FILM.tall);
    const style = styles(this.root);
    pen.font = font(style, 11, "--mono");
    pen.fillStyle = style("--lv-muted");
    pen.textBaseline = "bottom";
    if (known.length) {
      pen.textAlign = "right";
      pen.fillText(`${number(low, 2)} – ${number(high, 2)}`, width - 2, FILM.tall);
    }
    pen.lineJoin = "round";
    line(pen, plot, null, curve.values, { color: style("--lv-loss") });
    pen.strokeStyle = pen.fillStyle = style("--lv-accent");
    pen.lineWidth = 2;
    segment(pen, plot.x(step), 2, plot.x(step), plot.bottom);
    if (now !== null && now !== undefined) dot(pen, plot.at(step, now), 4);
  }
}

// The kinds of points as buttons that light them up; or the scale of a shade.
export class KindLegend {
  constructor(onLit) {
    this.box = el("div", "kinds", null, { role: "group" });
    this.onLit = onLit;
  }

  draw(data, lit, root) {
    if (data.shade) return this.box.replaceChildren(this.scale(data));
    const there = new Set(data.kinds);
    const chips = data.kindNames.flatMap((name, k) => {
      if (!there.has(k)) return [];
      const chip = el("button", "kind", null, { type: "button", "aria-pressed": lit.has(k) });
      const mark = svg("svg", { viewBox: "-1.5 -1.5 3 3", width: 12, height: 12, "aria-hidden": "true" });
      const shape = data.shapes[(k + Math.floor(k / data.colors)) % data.shapes.length];
      const corners = CORNERS[shape];
      const fill = { fill: `var(--lv-kind-${k % data.colors})` };
      mark.appendChild(
        corners ? svg("polygon", { points: corners.map((c) => c.join()).join(" "), ...fill }) : svg("circle", { r: 1, ...fill }),
      );
      chip.append(mark, name);
      chip.onclick = () => {
        const next = new Set(lit);
        if (!next.delete(k)) next.add(k);
        this.onLit([...next].sort((a, b) => a - b));
      };
      return [chip];
    });
    this.box.hidden = !chips.length;
    this.box.setAttribute("aria-label", data.words.kinds);
    if (chips.length) {
      const all = el("button", "kind plain", data.words.all, { type: "button" });
      const none = el("button", "kind plain", data.words.none, { type: "button" });
      all.onclick = () => this.onLit(data.kindNames.map((_, k) => k));
      none.onclick = () => this.onLit([]);
      chips.push(all, none);
    }
    this.box.replaceChildren(...chips);
  }

  scale(data) {
    const box = el("div", "shade");
    this.box.hidden = false;
    box.append(
      el("span", "muted", data.shade.title),
      el("span", "num", number(data.shade.low, 2)),
      el("span", "ramp"),
      el("span", "num", "1"),
    );
    return box;
  }
}
