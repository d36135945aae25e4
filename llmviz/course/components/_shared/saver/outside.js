// A picture outside of the app, in a saved page or in a notebook: its component is called as Streamlit
// would. This is put into both, with what it imports.

import { reachSoon } from "../reach.js";

globalThis.llmvizSaver ??= { soon: reachSoon }; // what a picture tells of each change; here nothing saves it

globalThis.llmvizMount = (parent, picture, view, { report = () => {}, ask = () => {} } = {}) => {
  // Under a shadow root of its own, as in the app, so that its style is for it alone.
  const host = document.createElement("div");
  const shadow = host.attachShadow({ mode: "open" });
  const style = document.createElement("style");
  style.textContent = picture.css;
  const place = document.createElement("div");
  shadow.append(style, place);
  parent.append(host);
  const component = {
    name: picture.name,
    key: picture.key,
    data: picture.message,
    parentElement: place,
    setStateValue: (name, value) => report(name, value),
    // What only the model can answer: the picture goes back to how it was made. A slider's picture has
    // what all stops lead to, so that it stays; others beside it stand as they were made ("set").
    setTriggerValue(name, act) {
      const known = Object(act); // a number or a name is no object
      if ("at" in known && typeof act === "object") return report(name, act);
      const slider = typeof act === "object" && "set" in known;
      for (const entry of globalThis.llmvizPictures.values())
        if (place.contains(entry.root) && !slider) entry.view.update(entry.data, entry.width);
      ask(slider, name, act);
    },
  };
  // A link leads to a chapter of the app, which may not be here; mostly the picture itself follows it.
  place.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (!link || event.defaultPrevented) return;
    event.preventDefault();
    ask(false, "chapter", link.getAttribute("href"));
  });
  let leave = null;
  const draw = () => (leave = view(component));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", draw);
  draw();
  const end = () => {
    dark.removeEventListener("change", draw);
    leave?.();
    host.remove();
  };
  const update = (message) => {
    component.data = message;
    draw();
  };
  return { draw, update, end };
};
