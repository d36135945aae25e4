// A part that scrolls begins with whole columns: one that is cut through reads as another word.

// frame: what scrolls. columns: its parts from left to right, behind what stays at its left. at: the
// one that must be seen.
export function showWhole(frame, columns, at) {
  frame.style.maxWidth = "";
  const room = frame.clientWidth;
  const start = frame.getBoundingClientRect().left - frame.scrollLeft;
  const ends = columns.map((column) => {
    const { left, right } = column.getBoundingClientRect();
    return [left - start, right - start].map((edge) => edge / (column.currentCSSZoom ?? 1));
  });
  const last = ends.length - 1;
  if (last < 0 || ends[last][1] <= room + 1) return;
  const stays = ends[0][0];
  const fits = (from, to) => ends[to][1] - ends[from][0] + stays + BESIDE_LAST <= room;
  let from = 0;
  while (from < at && !fits(from, at)) from += 1;
  let to = at;
  while (to < last && fits(from, to + 1)) to += 1;
  frame.style.maxWidth = `${ends[to][1] - ends[from][0] + stays + BESIDE_LAST}px`;
  frame.scrollLeft = ends[from][0] - stays;
}

const BESIDE_LAST = 3; // pixels for the frame of the last one
