// Texts of a picture that are cut by its edge or lie outside it, with the side. Canvases are asked for
// the texts that `watchCanvases` noted: each with its box, and whether it is read from below.

function watchCanvases() {
  const { prototype } = CanvasRenderingContext2D;
  const { fillText } = prototype;
  const noted = new WeakMap();
  prototype.fillText = function (text, x, y, ...more) {
    fillText.call(this, text, x, y, ...more);
    const size = this.measureText(text);
    const place = this.getTransform();
    const across = [x - size.actualBoundingBoxLeft, x + size.actualBoundingBoxRight];
    const down = [y - size.actualBoundingBoxAscent, y + size.actualBoundingBoxDescent];
    const corners = across.flatMap((a) => down.map((b) => place.transformPoint({ x: a, y: b })));
    const [xs, ys] = [corners.map((corner) => corner.x), corners.map((corner) => corner.y)];
    const box = { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
    noted.set(this.canvas, [...(noted.get(this.canvas) ?? []), [String(text), box, Math.abs(place.b) > 0]]);
  };
  // Each drawing begins with a new size.
  const width = Object.getOwnPropertyDescriptor(HTMLCanvasElement.prototype, "width");
  const set = function (value) {
    noted.delete(this);
    width.set.call(this, value);
  };
  Object.defineProperty(HTMLCanvasElement.prototype, "width", { ...width, set });
  window.textsOf = (canvas) => noted.get(canvas) ?? [];
}

function textsOutside(stage) {
  const SLACK = 2; // pixels
  const found = [];
  const above = (node) => node.parentElement ?? (node.getRootNode() instanceof ShadowRoot ? node.getRootNode().host : null);
  const isSeen = (node) => {
    const { clipPath, overflowX } = getComputedStyle(node);
    const forReaders = clipPath !== "none" || (overflowX === "hidden" && node.getBoundingClientRect().width < 2);
    return !forReaders && node.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  };

  // What the picture and the parts around a node leave to be seen; a part that scrolls only has gates.
  const roomOf = (node) => {
    const { left, right } = stage.getBoundingClientRect();
    const room = { left: Math.max(0, left), right: Math.min(innerWidth, right), top: -Infinity, bottom: Infinity, gates: [] };
    for (let at = node; at && at !== stage; at = above(at)) {
      const { overflowX, overflowY } = getComputedStyle(at);
      const box = at.getBoundingClientRect();
      const scrolls = (overflow, inside, own) => /auto|scroll/.test(overflow) && inside > own + 1;
      if (scrolls(overflowX, at.scrollWidth, at.clientWidth)) {
        Object.assign(room, { left: -Infinity, right: Infinity });
        room.gates.push(box.left, box.right);
      } else if (overflowX !== "visible") {
        room.left = Math.max(room.left, box.left);
        room.right = Math.min(room.right, box.right);
      }
      if (scrolls(overflowY, at.scrollHeight, at.clientHeight)) Object.assign(room, { top: -Infinity, bottom: Infinity });
      else if (overflowY !== "visible") {
        room.top = Math.max(room.top, box.top);
        room.bottom = Math.min(room.bottom, box.bottom);
      }
    }
    return room;
  };

  const tell = (text, box, room) => {
    const out = { left: room.left - box.left, right: box.right - room.right, top: room.top - box.top, bottom: box.bottom - room.bottom };
    for (const [side, far] of Object.entries(out)) if (far > SLACK) found.push(`${text.trim()}: ${side} ${Math.round(far)}`);
    if (room.gates.some((gate) => box.left < gate - SLACK && box.right > gate + SLACK)) found.push(`${text.trim()}: cut through`);
  };

  const look = (node) => {
    if (node instanceof Text) return node.data.trim() && lookAtText(node);
    if (node instanceof HTMLCanvasElement) return isSeen(node) && lookAtCanvas(node);
    if (node instanceof Element && (node.matches("style, script, option, .card") || !isSeen(node))) return;
    if (node.shadowRoot) look(node.shadowRoot);
    node.childNodes.forEach(look);
  };

  const lookAtText = (node) => {
    const around = node.parentElement;
    if (!around || getComputedStyle(around).textOverflow === "ellipsis") return;
    const range = document.createRange();
    range.selectNodeContents(node);
    const room = roomOf(around);
    for (const box of range.getClientRects()) if (box.width > 1) tell(node.data, box, room);
  };

  const lookAtCanvas = (node) => {
    const frame = node.getBoundingClientRect();
    const scale = frame.width / node.width;
    const room = roomOf(above(node));
    for (const [text, box] of textsOf(node)) {
      const place = {
        left: frame.left + box.left * scale,
        right: frame.left + box.right * scale,
        top: frame.top + box.top * scale,
        bottom: frame.top + box.bottom * scale,
      };
      if (text.trim()) tell(text, place, { ...room, left: Math.max(room.left, frame.left), right: Math.min(room.right, frame.right) });
    }
  };

  look(stage);
  return [...new Set(found)];
}

// Texts of some canvases that are read from below and stand over another one, each with that one.
function titlesOverTexts(canvases) {
  const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
  return canvases.flatMap((canvas) => {
    const [titles, others] = [true, false].map((upright) => textsOf(canvas).filter((one) => one[2] === upright));
    return titles.map(([title, box]) => [title, ...others.filter((one) => !apart(box, one[1])).map((one) => one[0])]);
  });
}
