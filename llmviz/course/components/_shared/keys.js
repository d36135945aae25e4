// Keys on a grid of cells. Rows go down, columns to the right.

export const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

// Enter and space choose the cell; an arrow goes to the next one, which may lie outside.
export function gridKey(event, [row, column], choose, go) {
  const step = ARROWS[event.key];
  if (step) go([row + step[0], column + step[1]]);
  else if (event.key === "Enter" || event.key === " ") choose();
  else return;
  event.preventDefault();
}
