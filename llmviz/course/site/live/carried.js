// What a link of the page carries behind a #, which no browser sends to a host.

const LONG = 2000; // characters of a value
const stated = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");

export const linked = (name) => stated().get(name);

// null: the address no longer has it; nor has it a value that is too long.
export function carry(name, value) {
  const state = stated();
  if (value === null || value.length > LONG) state.delete(name);
  else state.set(name, value);
  history.replaceState(null, "", `${location.pathname}${location.search}${String(state) && `#${state}`}`);
}
