// What is typed goes to this server's own API; what comes back is shown as text.

const at = (id) => document.getElementById(id);
const messages = []; // of the chat so far
let model = "";
let note = ""; // what is to be known before a chat
let stopping = null;

const way = () => document.querySelector("input[name=way]:checked").value;

function part(kind, text) {
  const element = document.createElement("span");
  element.className = kind;
  element.textContent = text;
  at("answer").append(element);
  return element;
}

function numberOf(id) {
  const value = at(id).valueAsNumber;
  return Number.isNaN(value) ? undefined : value;
}

function body(text) {
  const settings = {
    model,
    stream: true,
    temperature: numberOf("temperature"),
    top_p: numberOf("top_p"),
    max_tokens: numberOf("max_tokens"),
  };
  return way() === "chat" ? { ...settings, messages } : { ...settings, prompt: text };
}

// The data of server-sent events, one after the other.
async function* events(answer) {
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    held += value;
    const parts = held.split("\n\n");
    held = parts.pop();
    for (const one of parts) yield one.replace(/^data: /, "");
  }
}

async function ask(text, show) {
  stopping = new AbortController();
  const path = way() === "chat" ? "v1/chat/completions" : "v1/completions";
  const answer = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body(text)),
    signal: stopping.signal,
  });
  if (!answer.ok) throw new Error((await answer.json()).error.message);
  for await (const data of events(answer)) {
    if (data === "[DONE]") return;
    const event = JSON.parse(data);
    if (event.error) throw new Error(event.error.message);
    if (event.notes) at("note").textContent = `Mind: ${event.notes.join("; ")}`;
    for (const choice of event.choices) show(choice.text ?? choice.delta.content ?? "");
  }
}

function busy(is) {
  at("send").disabled = is;
  at("stop").disabled = !is;
  at("ways").disabled = is;
  at("clear").disabled = is;
}

async function send(event) {
  event.preventDefault();
  const text = at("prompt").value;
  const chats = way() === "chat";
  if (chats && !text.trim()) return;
  at("problem").textContent = "";
  at("note").textContent = chats ? note : "";
  busy(true);
  if (chats) {
    messages.push({ role: "user", content: text });
    at("prompt").value = "";
  } else {
    at("answer").replaceChildren();
  }
  const given = part(chats ? "question" : "given", text);
  const written = part("written", "");
  try {
    await ask(text, (piece) => {
      written.textContent += piece;
    });
  } catch (error) {
    if (error.name !== "AbortError") at("problem").textContent = error.message;
  } finally {
    if (chats && written.textContent) {
      messages.push({ role: "assistant", content: written.textContent });
    } else if (chats) {
      messages.pop(); // what was not answered can be sent again
      at("prompt").value = text;
      given.remove();
      written.remove();
    }
    busy(false);
    at("prompt").focus();
  }
}

function clear() {
  messages.length = 0;
  at("answer").replaceChildren();
  at("problem").textContent = "";
}

at("form").addEventListener("submit", send);
at("stop").addEventListener("click", () => stopping?.abort());
at("clear").addEventListener("click", clear);
at("ways").addEventListener("change", () => {
  clear();
  at("note").textContent = way() === "chat" ? note : "";
});
at("prompt").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) at("form").requestSubmit();
});

const listed = await (await fetch("v1/models")).json();
model = listed.data[0].id;
note = listed.data[0].chat_note ? `Mind: ${listed.data[0].chat_note}` : "";
at("model").textContent = model;
