// The windows of a view: axes too long to be drawn, of which some numbers are seen.

// The windows of a message by name, each at its beginning.
export function windowsOf(sizes) {
  const found = new Map();
  for (const name in sizes) found.set(name, { name, ...sizes[name], at: 0 });
  return found;
}

// Those that stand elsewhere than at the beginning, as [name, at].
export function placesOf(windows) {
  const moved = [...windows.values()].filter((axis) => axis.at);
  return moved.map((axis) => [axis.name, axis.at]).sort((a, b) => (a[0] < b[0] ? -1 : 1));
}

export function slide(axis, at) {
  axis.at = Math.max(0, Math.min(axis.size - axis.show, at));
}

// Move a window so far that a place on its axis is seen.
export function reveal(axis, place) {
  if (axis) slide(axis, Math.max(place - axis.show + 1, Math.min(place, axis.at)));
}
