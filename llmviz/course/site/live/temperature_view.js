// Temperature on a visitor's own text: the probabilities of the next token, and what is written by them.

import { opened, Reader } from "./loaded.js";
import { softmax } from "./model.js";
import { ownText } from "./own_text.js";
import { el, percent } from "./page_parts.js";
import { draw, ranked, withTemperature } from "./sampling.js";

export { opened };

const SHOWN = 10; // tokens
const TEXTS = 3;
const LENGTH = 12; // tokens of each

export function start({ model: data }) {
  const at = (name) => document.getElementById(`temperature-${name}`);
  const temperature = () => Number(at("slider").value);
  let now = null;
  let ids = [];
  let logits = null;
  let turn = 0; // a text that was changed ends what is being written

  function shares() {
    at("now").textContent = temperature().toFixed(2);
    if (!logits) return;
    const [before, after] = [softmax(logits), softmax(withTemperature(logits, temperature()))];
    at("next").replaceChildren(
      ...ranked(logits)
        .slice(0, SHOWN)
        .map((id) => {
          const line = el("tr");
          line.append(el("th", "", now.names[id]));
          for (const share of [before[id], after[id]]) {
            const cell = el("td", "bar");
            const bar = el("span", "length");
            bar.style.width = `calc(var(--bar) * ${share.toFixed(4)})`;
            cell.append(bar, el("span", "", percent(share)));
            line.append(cell);
          }
          return line;
        }),
    );
    const entropy = after.reduce((sum, share) => sum - (share ? share * Math.log(share) : 0), 0);
    const among = Math.exp(entropy);
    at("said").textContent =
      `At T = ${temperature().toFixed(2)} the model is about as unsure as between ${among.toFixed(among < 10 ? 1 : 0)} equally likely tokens.`;
  }

  function read(loaded, text) {
    now = loaded;
    turn++;
    const most = now.model.config.context_length;
    const all = [now.tokenizer.end, ...now.tokenizer.encode(text)];
    ids = all.slice(-most + LENGTH);
    logits = now.reader.read(ids);
    at("written").replaceChildren();
    at("write").disabled = false;
    shares();
    return all.length > ids.length ? `The model reads the last ${ids.length} of your ${all.length.toLocaleString("en")} tokens.` : "";
  }

  at("write").addEventListener("click", async () => {
    const mine = ++turn;
    const lines = Array.from({ length: TEXTS }, () => el("li"));
    at("written").replaceChildren(...lines);
    for (const line of lines) {
      const more = [];
      while (more.length < LENGTH && more.at(-1) !== now.tokenizer.end) {
        const scores = withTemperature(now.reader.read([...ids, ...more]), temperature());
        more.push(draw(softmax(scores), Math.random()));
        const bytes = more.filter((id) => id !== now.tokenizer.end).flatMap((id) => [...now.tokenizer.bytes(id)]);
        line.textContent = `…${new TextDecoder().decode(Uint8Array.from(bytes))}`;
        await new Promise(requestAnimationFrame);
        if (mine !== turn) return;
      }
    }
  });
  at("slider").addEventListener("input", shares);
  shares();
  const load = async () => {
    const loaded = opened(await globalThis.llmvizSite.data(data));
    return { ...loaded, reader: new Reader(loaded.model) };
  };
  ownText("temperature", load, read);
}
