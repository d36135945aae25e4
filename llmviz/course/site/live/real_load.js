// Loads a real model after a click that says how much it is: the button, how far it is, what went wrong
// on the way, and the button that lets the browser forget it.

import { el } from "./page_parts.js";
import { keptOf, mega, sizeOf } from "./real_files.js";
import { say } from "./said.js";

const NEEDED = 4; // GB of memory
const SERVER = "python -m http.server";

// What is said of a model that stopped.
export const stopped = (report) => say("The model stopped: {why}.", { why: report.stopped || say("the browser does not say why") });

// name: what the ids of its elements begin with. base: the address of the site. what: what is loaded, such as
// "the model". given: what `load` of engine.js is given, too. send: gives a message to what computes. ready: is
// called when it can be asked. Returns what hears its reports, `load`, and whether a browser has `kept` it.
export function realLoad(name, { manifest, base, what, given, send, ready }) {
  const at = (part) => document.getElementById(`${name}-${part}`);
  const size = sizeOf(manifest);
  const disk = location.protocol === "file:";
  const all = mega(size);
  const said = (text) => (at("told").textContent = text);
  let loading = false;
  let here = false; // whether it can be asked
  let done = 0; // bytes

  function offer() {
    at("load").hidden = here || disk;
    at("bytes").hidden = here || !(loading || (done && done < size));
    at("bar").value = done / size;
    at("done").textContent = say("{done} of {all}", { done: mega(done), all });
    at("load").textContent = loading
      ? say("Stop loading")
      : done === size
        ? say("Open {what} ({size}, kept in this browser)", { what, size: all })
        : done
          ? say("Go on loading ({size} of {all} are missing)", { size: mega(size - done), all })
          : say("Load {what} ({size})", { what, size: all });
  }

  // What is to be known before so much is loaded.
  function warn() {
    if (disk) {
      const given = { what, address: "http://localhost:8000" };
      const text = say(
        "A page that was opened from the disk cannot load {what}. Start this small server in the site's folder and open {address}:",
        given,
      );
      return at("told").replaceChildren(text, " ", el("code", "", SERVER));
    }
    const { deviceMemory, connection } = navigator;
    const little =
      manifest.shards.length && deviceMemory < NEEDED
        ? say("This device has {memory} GB of memory, and the model needs some 0.3 GB of it.", { memory: deviceMemory })
        : "";
    const saving =
      connection?.saveData && done < size ? say("Your browser saves data: this would load {size}.", { size: mega(size - done) }) : "";
    said(`${little} ${saving}`.trim());
  }

  function load() {
    if (loading) return send({ stop: true });
    loading = true;
    said("");
    offer();
    send({ load: { manifest, base, ...given } });
  }

  at("load").addEventListener("click", load);
  at("forget").addEventListener("click", () => {
    send({ forget: true });
    at("forget").hidden = true;
    said(say("The browser keeps the model no more. It stays on this page until you leave."));
  });

  function hear(report) {
    done = report.bytes ?? done;
    if ("unloaded" in report) {
      loading = false;
      said(report.unloaded);
    }
    if (report.stopped !== undefined) {
      [loading, here] = [false, false];
      said(`${stopped(report)} ${say("Load it again.")}`);
    }
    if (report.ready) {
      [loading, here] = [false, true];
      at("forget").hidden = !report.keeps;
      said(report.keeps ? "" : say("This browser has no room for the model or may not keep it: the next visit loads it again."));
    }
    offer();
    if (report.ready) ready();
  }

  offer();
  warn();
  // Promises whether the browser has all of it.
  const kept = disk
    ? Promise.resolve(false)
    : keptOf(manifest, base).then((bytes) => {
        if (loading || here) return false;
        done = bytes;
        offer();
        warn();
        return done === size;
      });
  return { hear, load, kept };
}
