// Pointing, dragging and pinching on a map of points, and the keys for the same.

import { onLeave, spotOf } from "../_shared/common.js";

export function handOn(film) {
  const { map } = film;
  const { canvas } = map;
  const fingers = new Map();
  let moved = 0;
  const inside = (event) => spotOf(event, canvas);
  canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, inside(event));
    canvas.setPointerCapture(event.pointerId);
    moved = 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = inside(event);
    const before = fingers.get(event.pointerId);
    if (!before) {
      const over = map.px ? map.hit(x, y) : -1;
      if (over !== film.hover) film.look(over);
      return;
    }
    moved += Math.abs(x - before[0]) + Math.abs(y - before[1]);
    const others = [...fingers].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
    if (others.length === 1) {
      const [ox, oy] = others[0];
      const was = Math.hypot(before[0] - ox, before[1] - oy);
      map.zoom(Math.hypot(x - ox, y - oy) / Math.max(1, was), (x + ox) / 2, (y + oy) / 2);
    } else if (moved > 4) {
      map.pan(x - before[0], y - before[1]);
    }
    fingers.set(event.pointerId, [x, y]);
    film.paint();
  });
  const up = (event) => {
    const single = fingers.size === 1;
    fingers.delete(event.pointerId);
    if (event.type !== "pointerup" || moved > 4 || !single) return;
    const i = map.hit(...inside(event), event.pointerType === "touch" ? 22 : 12);
    if (i >= 0) film.pick(i);
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  onLeave(canvas, () => film.look(-1));
  canvas.addEventListener("dblclick", () => (map.whole(), film.paint()));
  const wheel = (event) => {
    if (!event.ctrlKey && !event.metaKey) return; // a plain wheel scrolls the page
    event.preventDefault();
    map.zoom(Math.exp(-event.deltaY / 240), ...inside(event));
    film.paint();
  };
  canvas.addEventListener("wheel", wheel, { passive: false });
  canvas.addEventListener("keydown", (event) => steer(film, event));
}

// Arrows go from point to point, Enter chooses, + − 0 zoom.
function steer(film, event) {
  const zoom = { "+": 1.3, "=": 1.3, "-": 1 / 1.3 }[event.key];
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (zoom) film.map.zoom(zoom);
  else if (event.key === "0") film.map.whole();
  else if (event.key === "Enter" && film.hover >= 0) film.pick(film.hover);
  else if (way) film.look(beside(film, ...way));
  else return;
  event.preventDefault();
  event.stopPropagation();
  film.paint();
}

// The nearest point on that side, at an angle of at most 45°.
function beside(film, dx, dy) {
  const from = film.hover >= 0 ? film.hover : (film.data.near[0]?.point ?? 0);
  const { px, py, n } = film.map;
  let best = from;
  let near = Infinity;
  for (let i = 0; i < n; i++) {
    const x = px[i] - px[from];
    const y = py[i] - py[from];
    const ahead = x * dx + y * dy;
    const aside = Math.abs(x * dy) + Math.abs(y * dx);
    if (i === from || ahead <= 0 || aside > ahead) continue;
    const d = ahead + aside;
    if (d < near) [near, best] = [d, i];
  }
  return best;
}
