// The script of every page: pictures and charts are drawn when they come near, questions are graded.
// A page may have been opened from a disk, where a script can ask for other scripts and for nothing else.

(() => {
  const page = JSON.parse(document.getElementById("page").textContent);
  const ASKS = "This asks the model, which is not in this page.";
  const ELSEWHERE = "This site has no page for that; the app shows it.";
  const ALONE = "Here one slider moves at a time, and the others stay as they are.";
  const LOST = "A file of this page is missing, so this cannot be drawn.";
  const { said = {}, inPictures } = page; // what scripts say in the language of the page, by its English
  const say = (english) => said[english] ?? english;
  const NEAR = "600px";
  const root = document.documentElement;
  const views = {};
  const styles = {};
  const brought = {};
  const asked = new Map();
  const drawn = [];
  globalThis.llmvizParts = new Map();

  globalThis.llmvizSite = {
    view(name, style, view) {
      views[name] = view;
      styles[name] = style;
    },
    bring(name, packed) {
      brought[name] = packed;
    },
    find: null,
    data,
    nearest,
    asks,
    onTheme: (draw) => drawn.push(draw),
    ...{ said, inPictures, language: root.lang },
  };

  async function bytesOf(packed) {
    const letters = atob(packed);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  function script(path) {
    if (!asked.has(path))
      asked.set(
        path,
        new Promise((resolve, reject) => {
          const node = document.createElement("script");
          node.src = `${page.root}${path}`;
          node.onload = resolve;
          node.onerror = () => reject(new Error(path));
          document.head.append(node);
        }),
      );
    return asked.get(path);
  }

  async function data(name) {
    await script(`assets/data/${name}.js`);
    return bytesOf(brought[name]);
  }

  // ---- light and dark

  const prefers = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefers.matches);

  function named() {
    button.textContent = say(isDark() ? "Light" : "Dark");
    button.setAttribute("aria-label", say(isDark() ? "Use the light theme" : "Use the dark theme"));
  }

  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("llmviz-theme", root.dataset.theme);
    } catch {} // a browser that keeps nothing
    turned();
  });
  prefers.addEventListener("change", turned);
  named();

  function turned() {
    named();
    for (const draw of drawn) draw();
  }

  // ---- pictures

  let leaving = 0;
  function tell(text, address = page.app) {
    const told = document.getElementById("told");
    told.replaceChildren(text);
    if (page.app) {
      const link = document.createElement("a");
      link.href = address;
      link.textContent = say("Open this in the app");
      told.append(" ", link);
    }
    told.hidden = false;
    clearTimeout(leaving);
    leaving = setTimeout(() => (told.hidden = true), 6000);
  }

  // What a picture asks the app: for a state or a chapter, which may be here, or for the model, which is not.
  function asks(slider, name, act) {
    if (name !== "look" && name !== "chapter") return tell(say(slider ? ALONE : ASKS));
    const file = name === "look" ? page.looks[act] : page.chapters[chapterOf(act)];
    if (file) location.href = `${page.root}${file}${name === "look" ? "#told" : ""}`;
    else tell(say(ELSEWHERE), page.app && inApp(name, act));
  }

  // The name of the chapter of an address, which may be one of the app: attention?part=steps&text=…
  function chapterOf(address) {
    const [lesson, query] = address.split("?");
    return query === undefined ? lesson : `${lesson}/${new URLSearchParams(query).get("part")}`;
  }

  // Where the app shows what is not here: a state of this page, or a chapter.
  function inApp(name, act) {
    if (name === "chapter") return new URL(act.replace("/", "?part="), page.app).href;
    const address = new URL(page.app);
    for (const [key, value] of new URLSearchParams(act)) address.searchParams.set(key, value);
    return address.href;
  }

  // A picture that tells comes with the right guess drawn into it: here it is the reader's, or none.
  const guesses = new Map(); // by the number of a question
  const graders = new Map();
  function withGuess(message, guess) {
    const end = 4 + new DataView(message.buffer, message.byteOffset).getUint32(0, true);
    const told = JSON.parse(new TextDecoder().decode(message.subarray(4, end)));
    const rows = (told.rows ?? []).filter((row) => row.guess !== null);
    for (const [n, row] of rows.entries()) Object.assign(row, guess ? { guess: guess[n] } : { guess: null, ghosts: [] });
    if (told.own?.x.length) told.own = guess ? { x: told.own.x, y: guess } : { x: [], y: [] };
    const head = new TextEncoder().encode(JSON.stringify(told));
    const whole = new Uint8Array(4 + head.length + message.length - end);
    new DataView(whole.buffer).setUint32(0, head.length, true);
    whole.set(head, 4);
    whole.set(message.subarray(end), 4 + head.length);
    return whole;
  }

  // The place of the values that are nearest to a guess; the right ones where others are as near.
  // Of a line, or of bars, it counts as much how far they go up or down, from their first half to their second.
  function nearest({ values, right, log, line }, guess) {
    const sum = (gaps) => gaps.reduce((all, gap) => all + gap, 0);
    const away = values.map((some) => {
      const gaps = some.map((value, n) => (log ? Math.log(value / guess[n]) : value - guess[n]));
      const half = gaps.length >> 1;
      const turns = line && half ? sum(gaps.slice(-half)) - sum(gaps.slice(0, half)) : 0;
      return sum(gaps.map(Math.abs)) + 2 * Math.abs(turns);
    });
    const least = Math.min(...away);
    return away[right] === least ? right : away.indexOf(least);
  }

  async function picture(node) {
    const { name, key, asks: asked, data: packed, parts } = page.pictures[node.dataset.picture];
    const bytes = await Promise.all([
      data(packed),
      script(`assets/pictures/${name}.js`),
      ...Object.entries(parts).map(async ([address, part]) => globalThis.llmvizParts.set(address, await data(part))),
    ]);
    const message = asked === null ? bytes[0] : withGuess(bytes[0], guesses.get(asked));
    const given = { name: `llmviz_${name}`, key, css: styles[name], message };
    const ask = (slider, what, act) => (act?.guess && page.hands[asked] ? graders.get(asked)(act) : asks(slider, what, act));
    const mounted = globalThis.llmvizMount(node, given, views[name], { ask });
    drawn.push(mounted.draw);
  }

  // Plotly, or the part of it that draws flat charts: each stays itself where a page needs both.
  const libraries = new Map();
  function plotly(name) {
    if (!libraries.has(name))
      libraries.set(
        name,
        script(`assets/${name}.js`).then(async () => {
          const node = document.createElement("script");
          node.textContent = new TextDecoder().decode(await bytesOf(brought[name]));
          document.head.append(node);
          return globalThis.Plotly;
        }),
      );
    return libraries.get(name);
  }

  async function chart(node) {
    const known = page.charts[node.dataset.chart];
    const Plotly = await plotly(known.library);
    const draw = () => {
      const { data, layout } = structuredClone((isDark() && known.dark) || known.light);
      const style = getComputedStyle(root);
      const ink = style.getPropertyValue("--ink").trim();
      const clear = { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)" };
      layout.font = { family: style.getPropertyValue("--st-font"), color: ink, ...layout.font };
      Plotly.react(node, data, { ...clear, ...layout, width: undefined }, { responsive: true, displaylogo: false, displayModeBar: false });
    };
    draw();
    drawn.push(draw);
  }

  const watch = (rootMargin) =>
    new IntersectionObserver(
      (entries, observer) => {
        for (const { isIntersecting, target } of entries) {
          if (!isIntersecting) continue;
          observer.unobserve(target);
          begin(target);
        }
      },
      { rootMargin },
    );
  const near = watch(NEAR);
  const seen = watch("0px"); // Plotly and whole tables are large, so that they wait until they are seen

  async function begin(node) {
    try {
      await ("chart" in node.dataset ? chart(node) : picture(node));
    } catch (error) {
      node.textContent = say(LOST);
      console.error(error);
    }
    node.dataset.drawn = "";
  }

  for (const node of document.querySelectorAll("[data-picture], [data-chart]")) {
    const known = page.pictures[node.dataset.picture]; // none of a chart
    if (known && page.silent.includes(known.name)) begin(node);
    else (known && !Object.keys(known.parts).length ? near : seen).observe(node);
  }

  // ---- questions

  // What was answered stays in this browser, where it keeps anything: by page and question, its words
  // (another edition may ask something else there) and the answer; null where it was only shown.
  const ANSWERS = "llmviz-answers";
  let answered = {};
  try {
    answered = JSON.parse(localStorage.getItem(ANSWERS)) ?? {};
  } catch {}
  const forget = document.getElementById("forget");
  function progress() {
    const pages = Object.keys(answered);
    forget.hidden = !pages.length;
    for (const link of document.querySelectorAll(".way a:not([href*='#']), .lessons a"))
      link.classList.toggle(
        "answered",
        pages.some((file) => new URL(`${page.root}${file}`, location.href).pathname === link.pathname),
      );
  }
  function note(question, answer) {
    answered[page.file] = { ...answered[page.file], [question.dataset.question]: { asked: wordsOf(question), answer } };
    try {
      localStorage.setItem(ANSWERS, JSON.stringify(answered));
    } catch {}
    progress();
  }
  const wordsOf = (question) => document.getElementById(`q${question.dataset.question}`).textContent;
  forget.addEventListener("click", () => {
    try {
      localStorage.removeItem(ANSWERS);
    } catch {}
    location.reload();
  });

  const open = new Set();
  function reveal() {
    for (const node of document.querySelectorAll("[data-by]")) {
      const known = node.dataset.by.split(" ").every((number) => open.has(number));
      node.hidden = node.classList.contains("covered") ? !known : known;
    }
  }

  for (const question of document.querySelectorAll("[data-question]")) {
    const grade = question.querySelector(".grade");
    const show = question.querySelector(".show");
    const opened = () => {
      open.add(question.dataset.question);
      show?.remove();
      reveal();
    };
    show?.addEventListener("click", () => {
      opened();
      note(question, null);
    });
    const whys = [...question.querySelectorAll(".why")];
    const answers = [...question.querySelectorAll("input")];
    const tell = (at, right, said) => {
      const head = document.createElement("p");
      head.className = at === right ? "right" : "wrong";
      head.textContent = said;
      const reasons = [whys[at], whys[right]].filter((why, i) => i === 0 || why.textContent !== whys[at].textContent);
      grade.replaceChildren(
        head,
        ...reasons.map((why) => {
          const copy = why.cloneNode(true);
          copy.hidden = false;
          return copy;
        }),
      );
      opened();
    };
    const right = answers.findIndex((answer) => "right" in answer.dataset);
    const choose = (at) => tell(at, right, at === right ? say("Right.") : say("Not this one."));
    for (const [at, answer] of answers.entries())
      answer.addEventListener("change", () => {
        choose(at);
        note(question, at);
      });
    const hand = page.hands[question.dataset.question];
    const draw = ({ guess, said }) => {
      guesses.set(Number(question.dataset.question), guess);
      const at = nearest(hand, guess);
      const line = hand.said[at][Number(said?.[0] !== hand.answers[at])];
      tell(
        at,
        hand.right,
        line.replace("{guess}", () => said?.[0]),
      );
    };
    graders.set(Number(question.dataset.question), (act) => {
      draw(act);
      note(question, { guess: act.guess, said: act.said });
    });
    const before = answered[page.file]?.[question.dataset.question];
    if (before?.asked !== wordsOf(question)) continue;
    if (before.answer === null) opened();
    else if (hand && before.answer.guess) draw(before.answer);
    else if (answers[before.answer]) {
      answers[before.answer].checked = true;
      choose(before.answer);
    }
  }
  progress();

  // Who follows a passage has seen what the questions cover.
  if (location.hash === "#told") for (const show of [...document.querySelectorAll(".show")]) show.click();

  // ---- search

  const box = document.getElementById("search");
  const found = document.getElementById("found");
  async function search() {
    await script("assets/search.js");
    const wanted = box.value.trim();
    found.hidden = !wanted;
    if (!wanted) return;
    const hits = globalThis.llmvizSite.find(wanted);
    found.replaceChildren(
      ...hits.map(({ place, title, where, text }) => {
        const [item, link, line] = ["li", "a", "span"].map((tag) => document.createElement(tag));
        link.href = `${page.root}${fileOf(place)}`;
        link.textContent = title;
        line.textContent = `${where}: ${text}`;
        link.append(line);
        item.append(link);
        return item;
      }),
    );
    if (!hits.length) {
      const none = document.createElement("li");
      none.textContent = say("Nothing has these words. Try fewer letters.");
      found.append(none);
    }
  }
  const fileOf = (place) => {
    const [lesson, name] = [place.slice(0, place.indexOf("/")), place.slice(place.indexOf("/") + 1)];
    return lesson === "glossary" ? `glossary.html#${encodeURIComponent(name)}` : `${lesson}/${name}.html`;
  };
  box.addEventListener("input", search);
  box.addEventListener("focus", search);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") found.hidden = true;
    if (event.key !== "/" || event.target.closest("input, textarea, .picture")) return;
    event.preventDefault();
    box.focus();
  });
  document.addEventListener("pointerdown", (event) => {
    if (!event.target.closest(".search")) found.hidden = true;
  });

  // ---- the pages that compute by themselves

  if (page.live) {
    const { script: own, name, pictures = [] } = page.live;
    Promise.all([own, ...pictures.map((one) => `assets/pictures/${one}.js`)].map(script)).then(() => {
      const known = pictures.map((one) => [one, { view: views[one], style: styles[one] }]);
      globalThis[name].start(page.live, Object.fromEntries(known));
    });
  }

  // Opened from a web host, the whole site stays in the browser, where it was written so.
  if (page.offline && location.protocol.startsWith("http")) navigator.serviceWorker?.register(`${page.root}offline.js`).catch(() => {});

  // Wide windows have the list of lessons beside the page; narrow ones open it.
  const list = document.querySelector(".lessons");
  const wide = matchMedia("(min-width: 70rem)");
  const beside = () => (list.open = wide.matches);
  wide.addEventListener("change", beside);
  beside();
  list.querySelector(".open [aria-current]")?.scrollIntoView({ block: "nearest" });
})();
