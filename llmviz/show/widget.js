// The other end of a picture in a notebook (see widget.py). `llmvizViews` are the pictures' scripts.

const bytesOf = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

// The colours and fonts of the notebook around, where the app's own theme would be.
function takeTheme(frame, around) {
  let ground = around;
  const colour = (node) => getComputedStyle(node).backgroundColor;
  while (ground && /^rgba\(0, 0, 0, 0\)$|^transparent$/.test(colour(ground))) ground = ground.parentElement;
  const style = getComputedStyle(around);
  frame.style.setProperty("--st-background-color", ground ? colour(ground) : "canvas");
  frame.style.setProperty("--st-font", style.fontFamily || "sans-serif");
  frame.style.setProperty("--st-code-font", "ui-monospace, monospace");
}

function render({ model, el }) {
  const frame = document.createElement("div");
  el.append(frame);
  const parts = (globalThis.llmvizParts ??= new Map());
  for (const [address, part] of Object.entries(model.get("parts"))) parts.set(address, bytesOf(part));
  takeTheme(frame, el);
  const messages = model.get("messages");
  const report = (name, value) => {
    model.set("state", { ...model.get("state"), [name]: value });
    model.save_changes();
  };
  const mounted = model.get("pictures").map((picture, i) => {
    const view = globalThis.llmvizViews[picture.view];
    return globalThis.llmvizMount(frame, { ...picture, message: bytesOf(messages[i]) }, view, { report });
  });
  const turned = new MutationObserver(() => {
    takeTheme(frame, el);
    for (const { draw } of mounted) draw();
  });
  turned.observe(document.body, { attributes: true, attributeFilter: ["class", "data-jp-theme-light", "data-theme"] });
  return () => {
    turned.disconnect();
    for (const { end } of mounted) end();
  };
}

export default { render };
