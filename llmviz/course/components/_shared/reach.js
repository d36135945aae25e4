// What scrolls can be reached by the keyboard: where nothing in it takes the focus, it takes it itself.

const OUTSIDE = "[data-testid=stMain] :is(pre, [data-testid=stMarkdownContainer], .stVerticalBlock)";
const INSIDE = "pre, div, section";
const FOCUS = "a[href], button:not([disabled]), input, select, textarea, [tabindex]:not([tabindex='-1'])";
const REST = 400; // milliseconds after a change, in which more may come

let due = 0;

export function reachSoon() {
  clearTimeout(due);
  due = setTimeout(reach, REST);
}

function reach() {
  const inside = [...globalThis.llmvizPictures.keys()].flatMap((root) => [...root.querySelectorAll(INSIDE)]);
  const wide = [...document.querySelectorAll(OUTSIDE), ...inside].filter(
    (node) => node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1,
  );
  for (const node of wide) {
    if (node.tabIndex >= 0 || node.querySelector(FOCUS)) continue;
    const { overflowX, overflowY } = getComputedStyle(node);
    if (/auto|scroll/.test(`${overflowX} ${overflowY}`)) node.tabIndex = 0;
  }
}
