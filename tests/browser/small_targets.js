// Which targets of a page are too small for a finger, as the test of all pages reads it.

const LEAST = 24; // pixels
const ROLES = "button link radio checkbox switch slider tab option menuitem menuitemradio spinbutton combobox treeitem".split(" ");
const NATIVE = "button, a[href], input:not([type=hidden], [type=file]), select, textarea, summary";

function small() {
  const boxes = [];
  look(document, boxes);
  const tooSmall = boxes.filter(isSmall).filter((one) => boxes.some((other) => isNear(one, other)));
  return tooSmall.map(({ node, box }) => {
    const name = node.getAttribute("aria-label") ?? node.textContent;
    return `${node.localName}.${node.className} "${name.trim().slice(0, 30)}": ${Math.round(box.width)} × ${Math.round(box.height)}`;
  });
}

// All targets below a root, also those within components.
function look(root, boxes) {
  for (const node of root.querySelectorAll("*")) {
    if (node.shadowRoot) look(node.shadowRoot, boxes);
    if (!node.matches(NATIVE) && !ROLES.includes(node.getAttribute("role"))) continue;
    if (node.disabled || node.ariaDisabled === "true" || !node.checkVisibility({ visibilityProperty: true })) continue;
    if (node.matches(".tok") || (node.matches("a[href]") && node.closest("p, li, td"))) continue; // within a text
    const part = node.matches("input") ? (node.closest("label, .stSlider") ?? node) : node;
    const box = part.getBoundingClientRect();
    // A link that a reader alone hears is one pixel until it has the focus; no finger comes to a
    // closed menu, left of the window.
    if (box.width > 1 && box.height > 1 && box.right > 0) boxes.push({ node, box });
  }
}

function isSmall({ box }) {
  return box.width < LEAST - 0.5 || box.height < LEAST - 0.5;
}

// Whether the circle around a small target touches another one, or the circle of another small one.
function isNear(one, other) {
  if (one === other || other.node.contains(one.node) || one.node.contains(other.node)) return false;
  const [x, y] = centre(one);
  const dx = Math.max(other.box.left - x, 0, x - other.box.right);
  const dy = Math.max(other.box.top - y, 0, y - other.box.bottom);
  if (Math.hypot(dx, dy) < LEAST / 2 - 0.5) return true;
  const [u, v] = centre(other);
  return isSmall(other) && Math.hypot(u - x, v - y) < LEAST - 0.5;
}

function centre({ box }) {
  return [box.x + box.width / 2, box.y + box.height / 2];
}
