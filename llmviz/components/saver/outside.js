// A picture outside of the app, in a saved page or in a notebook: its component is called as Streamlit
// would. This is put into both as it stands.

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
    // What only the model can answer: the picture goes back to how it was made.
    setTriggerValue() {
      for (const entry of globalThis.llmvizPictures.values()) if (place.contains(entry.root)) entry.view.update(entry.data, entry.width);
      ask();
    },
  };
  const draw = () => view(component);
  let leave = draw();
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const turn = () => (leave = draw());
  dark.addEventListener("change", turn);
  return () => {
    dark.removeEventListener("change", turn);
    leave?.();
    host.remove();
  };
};
