/* The page "Ask it yourself": a scene to change, a question to put, and the model in its thread. */
"use strict";

const SCI_LIVE = (() => {
  const SIDE = 96, CELL = 32;
  const DOT = 3, BRUSH = 6; // pixels: the grid that a dot of paint lies on, and its side
  const PAINTS = { grey: [128, 128, 128], black: [0, 0, 0], white: [255, 255, 255],
                   red: [200, 40, 40], blue: [40, 70, 200] };
  const COVER = PAINTS.grey;
  const COLUMNS = 5; // tokens shown, the winner beside
  const DEPTH = 6; // logits below the best of a row, where a bar ends

  let setup, world, weights, pieces, thread, host, shown = null, drawing = true, again = false;
  let loaded = false, painting = false, cell = 4;
  // `things` are the scene's own until a reader changes them; `dots` of paint by "x y".
  const state = { scene: 0, things: [], covered: [], dots: new Map(), prompt: "", method: "SCI5",
                  step: 0 };
  const waiting = new Map(); // by number, who waits for the thread's answer
  const before = new Map(); // answers on unchanged scenes

  /* --- small helpers --------------------------------------------------------------------- */

  const at = (name) => host.querySelector(`[data-part="${name}"]`);
  const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const visible = (piece) => piece === "" ? "(end)" : piece.replace(/ /g, "␣").replace(/\n/g, "⏎");
  const signed = (number) => number.toFixed(2).replace("-", "−");
  const say = (text) => { at("status").textContent = text; };
  const scene = () => world.scenes[state.scene];
  const method = () => setup.methods[state.method];
  const options = (values, chosen, said = (value) => value) => values.map((value) =>
    `<option value="${escape(value)}"${value === chosen ? " selected" : ""}>` +
    `${escape(said(value))}</option>`).join("");

  function script(name) {
    const folder = document.querySelector("script[data-live]").src.replace(/[^/]*$/, "");
    return new Promise((done, failed) => {
      const element = document.createElement("script");
      element.src = `${folder}${name}.js`;
      element.onload = done;
      element.onerror = () => failed(
        new Error(`${name}.js is not beside this page. Build the book anew.`));
      document.head.append(element);
    });
  }

  /* --- the thread -------------------------------------------------------------------------- */

  /* One question to the thread. */
  function ask(what, given) {
    return new Promise((done, failed) => {
      const id = waiting.size ? Math.max(...waiting.keys()) + 1 : 0;
      waiting.set(id, { done, failed });
      thread.postMessage({ id, ask: what, ...given });
    });
  }

  function heard({ data: { id, result, error } }) {
    const { done, failed } = waiting.get(id);
    waiting.delete(id);
    if (error) failed(new Error(error)); else done(result);
  }

  /* The thread with the world in it, which draws; the model comes with `load`. */
  async function start() {
    await Promise.all([script("setup"), script("scenes")]);
    thread = new Worker(URL.createObjectURL(new Blob([setup.thread])));
    thread.onmessage = heard;
    await ask("world", { world });
  }

  /* The model; `vectors` false leaves plain loops to compute. */
  async function load(vectors = true) {
    await script("weights");
    const about = await ask("load", { weights, setup: setup.rounds, vectors });
    ({ pieces } = about);
    loaded = true;
    return about;
  }

  /* --- the address ------------------------------------------------------------------------- */

  const written = ({ kind, colour, cell: place, on, text }) =>
    [kind, text ?? colour, place, ...(kind === "lamp" ? [on ? "on" : "off"] : [])].join(".");

  function readThing(words) {
    const [kind, second, place, lit] = words.split(".");
    const sign = kind === "sign", where = Number(place);
    const known = sign ? world.symbols.includes(second)
      : world.kinds.includes(kind) && world.colours.includes(second);
    if (!known || !(where >= 0 && where < 9) || !Number.isInteger(where)) return null;
    return { kind, colour: sign ? "white" : second, cell: where, ...(sign ? { text: second } : {}),
             ...(kind === "lamp" ? { on: lit === "on" } : {}) };
  }

  const sameThings = () => state.things.map(written).sort().join("_")
    === scene().things.map(written).sort().join("_");
  const isChanged = () => !sameThings() || state.covered.length > 0 || state.dots.size > 0;

  function address() {
    const parts = { scene: state.scene };
    if (!sameThings()) parts.things = state.things.map(written).join("_");
    if (state.covered.length) parts.cover = state.covered.join("");
    if (state.dots.size) parts.paint = [...state.dots].map(([place, colour]) =>
      Object.keys(PAINTS).indexOf(colour) + place.split(" ").map((n) => (+n).toString(32)).join(""))
      .join("");
    Object.assign(parts, { method: state.method, step: state.step, ask: state.prompt });
    return `#${new URLSearchParams(parts)}`;
  }

  function readAddress() {
    const given = new URLSearchParams(location.hash.slice(1)), problems = [];
    const take = (key, read) => {
      if (given.has(key) && !read(given.get(key))) problems.push(`${key}=${given.get(key)}`);
    };
    take("scene", (text) => {
      if (!world.scenes[text]) return false;
      state.scene = Number(text);
      return true;
    });
    Object.assign(state, { things: scene().things, covered: [], dots: new Map(), step: 0 });
    take("things", (text) => {
      const things = text.split("_").filter(Boolean).map(readThing);
      const cells = new Set(things.map((thing) => thing && thing.cell));
      if (things.includes(null) || cells.size < things.length) return false;
      state.things = things;
      return true;
    });
    take("cover", (text) => {
      if (!/^[0-8]+$/.test(text)) return false;
      state.covered = [...new Set(Array.from(text, Number))];
      return true;
    });
    take("paint", (text) => {
      if (!/^([0-4][0-9a-v]{2})+$/.test(text)) return false;
      for (const [, colour, x, y] of text.matchAll(/(.)(.)(.)/g))
        state.dots.set(`${parseInt(x, 32)} ${parseInt(y, 32)}`, Object.keys(PAINTS)[colour]);
      return true;
    });
    take("method", (name) => {
      if (!Object.hasOwn(setup.methods, name)) return false;
      state.method = name;
      return true;
    });
    take("step", (text) => {
      if (!/^\d$/.test(text)) return false;
      state.step = Number(text);
      return true;
    });
    take("ask", (text) => {
      if (!text.trim()) return false;
      state.prompt = text;
      return true;
    });
    return problems.length ? `Not understood in the address, so left out: ${problems.join(", ")}.` : "";
  }

  /* --- questions --------------------------------------------------------------------------- */

  const plural = (kind) => setup.questions.words.plural[kind] || `${kind}s`;
  const count = (kind) => state.things.filter((thing) => thing.kind === kind).length;
  const first = (kind) => state.things.find((thing) => thing.kind === kind);

  /* What the scene, unpainted, has to answer; undefined where it has nothing. */
  const TRUTHS = {
    colour: (kind) => first(kind)?.colour,
    count: (kind) => String(count(kind)),
    position: (kind) => world.cells[first(kind)?.cell],
    place: () => scene().place,
    existence: () => state.things.find((thing) => thing.kind !== "sign")?.kind,
    sign: () => first("sign")?.text,
    state: () => first("lamp")?.on ? "on" : "off",
  };

  const needsThing = (family) =>
    family === "existence" ? at("form").value === "yes or no"
      : /\{(kinds?|noun)\}/.test(setup.questions.families[family].question[0]);

  /* Four values to choose from, the scene's own among them, in their usual order. */
  function choices(family, kind) {
    const { values } = setup.questions.families[family], truth = TRUTHS[family](kind);
    const wrong = values.filter((value) =>
      value !== truth && !(family === "existence" && count(value)));
    const four = [...(truth === undefined ? [] : [truth]), ...wrong].slice(0, 4);
    return values.filter((value) => four.includes(value));
  }

  /* The prompt that the selects put together. */
  function composed() {
    const [family, kind, form] = ["family", "about", "form"].map((name) => at(name).value);
    const { families, forms, words } = setup.questions;
    const { language, text } = forms[form], chinese = language === "zh", wordings = families[family];
    const said = (value) => chinese && words.chinese[value] ? [words.chinese[value]].flat()[0] : value;
    const value = family === "existence" ? kind : at("value").value, many = count(kind) > 1;
    const names = {
      kind: said(kind), kinds: plural(kind), noun: many ? plural(kind) : kind,
      verb: many ? "are" : "is", Verb: many ? "Are" : "Is",
      measure: chinese ? words.chinese[kind][1] : "",
      lamps: count("lamp") > 1 ? "Are the lamps" : "Is the lamp",
      value, a_value: `${/^[aeiou]/.test(value) ? "an" : "a"} ${value}`,
    };
    const filled = (pattern) => pattern.replace(/\{(\w+)\}/g, (_, name) => names[name]);
    const claim = value === "1" && wordings["claim of one"] || wordings.claim;
    const lines = choices(family, kind).map((each, i) => `${"ABCD"[i]}. ${said(each)}\n`);
    const parts = { question: filled(wordings.question[chinese ? 1 : 0]), claim: filled(claim[0]),
                    options: lines.join("") };
    return text.replace(/\{(\w+)\}/g, (_, name) => parts[name]);
  }

  function drawQuestion() {
    const family = at("family").value, forms = Object.keys(setup.questions.forms)
      .filter((form) => family !== "existence" || form !== "short answer");
    const form = forms.includes(at("form").value) ? at("form").value : forms[0];
    at("form").innerHTML = options(forms, form);
    at("about").parentElement.hidden = !needsThing(family);
    const wanted = form === "yes or no" && family !== "existence";
    at("value").parentElement.hidden = !wanted;
    const { values } = setup.questions.families[family];
    if (!values.includes(at("value").value)) at("value").innerHTML = options(values, values[0]);
  }

  /* --- pictures ---------------------------------------------------------------------------- */

  function put(canvas, rgb) {
    const context = canvas.getContext("2d"), image = context.createImageData(SIDE, SIDE);
    for (let i = 0; i < SIDE * SIDE; i++) {
      image.data.set(rgb.subarray(3 * i, 3 * i + 3), 4 * i);
      image.data[4 * i + 3] = 255;
    }
    context.putImageData(image, 0, 0);
  }

  /* The scene's bytes with what lies over it. */
  function over(rgb) {
    const fill = (left, top, side, colour) => {
      for (let y = top; y < Math.min(SIDE, top + side); y++)
        for (let x = left; x < Math.min(SIDE, left + side); x++) rgb.set(colour, 3 * (y * SIDE + x));
    };
    for (const place of state.covered)
      fill(place % 3 * CELL, Math.floor(place / 3) * CELL, CELL, COVER);
    for (const [place, colour] of state.dots) {
      const [x, y] = place.split(" ").map((n) => n * DOT);
      fill(x, y, BRUSH, PAINTS[colour]);
    }
    return rgb;
  }

  const drawn = (things) => ask("draw", { scene: { ...scene(), things } });

  /* --- what is drawn ----------------------------------------------------------------------- */

  function named(place) {
    const thing = state.things.find((each) => each.cell === place);
    const what = !thing ? "nothing" : thing.kind === "sign" ? `a sign with ${thing.text}`
      : `${thing.colour} ${thing.kind}${thing.kind === "lamp" ? ` that is ${thing.on ? "on" : "off"}` : ""}`;
    return `${world.cells[place]}: ${what}${state.covered.includes(place) ? ", covered" : ""}`;
  }

  function drawEditor() {
    const thing = state.things.find((each) => each.cell === cell);
    const kind = thing?.kind ?? "nothing", sign = kind === "sign";
    at("cells").classList.toggle("painting", painting);
    at("cells").querySelectorAll("button").forEach((button, place) => {
      button.setAttribute("aria-label", named(place));
      button.setAttribute("aria-pressed", place === cell);
    });
    at("cell").textContent = named(cell);
    at("kind").innerHTML = options(["nothing", ...world.kinds, "sign"], kind);
    at("colour").innerHTML = options(world.colours, thing?.colour);
    at("text").innerHTML = options(world.symbols, thing?.text);
    const taken = state.things.map((each) => each.cell);
    const free = [...world.cells.keys()].filter((place) => place === cell || !taken.includes(place));
    at("to").innerHTML = options(free.map(String), String(cell), (place) => world.cells[place]);
    at("on").checked = Boolean(thing?.on);
    at("covered").checked = state.covered.includes(cell);
    for (const [name, there] of Object.entries(
      { colour: thing && !sign, text: sign, on: kind === "lamp", to: thing }))
      at(name).parentElement.hidden = !there;
  }

  function drawAnswers(now, then) {
    const line = (name, { base, own }) =>
      `<tr><th scope="row">${name}</th><td>${escape(base)}</td><td>${escape(own)}</td></tr>`;
    const said = ({ rounds, text }) =>
      ({ base: rounds[0].answer.trim() || "(nothing)", own: text.trim() || "(nothing)" });
    at("answers").innerHTML = `<thead><tr><td></td><th scope="col">base</th>` +
      `<th scope="col">${escape(method().label)}</th></tr></thead><tbody>` +
      line(isChanged() ? "changed" : "says", said(now)) +
      (then ? line("before", said(then)) : "") + "</tbody>";
  }

  /* The rounds of one step: what each is shown and says, its logits, and what the method makes. */
  function drawRounds({ rounds, steps }) {
    state.step = Math.min(state.step, steps.length - 1);
    const step = steps[state.step], { slot, tc, vc, deciding, score, cutoff } = step;
    const original = step.logits[0];
    const order = [...original.keys()].sort((a, b) => original[b] - original[a]);
    const columns = [...new Set([...order.slice(0, COLUMNS), slot])];
    const piece = (id) => visible(pieces[id]);
    at("steps").innerHTML = steps.length < 2 ? "" : "Token " + steps.map((each, i) =>
      `<button type="button" data-step="${i}" aria-pressed="${i === state.step}">` +
      `${i + 1}: ${escape(visible(pieces[each.slot]))}</button>`).join(" ");
    const line = (label, says, values, kind, dropped = () => false) => {
      const best = Math.max(...columns.filter((id) => !dropped(id)).map((id) => values[id]));
      return `<tr class="${kind}"><th scope="row">${label}</th><td>${escape(says)}</td>` +
        columns.map((id) => {
          if (dropped(id)) return `<td class="dropped">dropped</td>`;
          const share = Math.max(0, Math.round(100 * (1 - (best - values[id]) / DEPTH)));
          const wins = kind === "score" && id === slot ? " winner" : "";
          return `<td class="bar${wins}" style="--share:${share}%">${signed(values[id])}</td>`;
        }).join("") + "</tr>";
    };
    const { rule, tau2 } = method();
    const { equation, decides, constants } = setup.rounds.rules[rule];
    const joined = decides === "textual" ? "TC / τ1" : "original";
    const [added, weighed] = constants.includes("tau2")
      ? ["VC / τ2", vc.map((value) => value / tau2)] : ["VC", vc];
    const lines = rounds.map(({ name, answer }, i) => line(
      `<label title="${escape(setup.said[name] || "")}"><canvas width="${SIDE}" height="${SIDE}" ` +
      `aria-hidden="true"></canvas> ${escape(name)}</label>`, answer.trim() || "(nothing)",
      step.logits[i], "round"));
    const terms = equation === null ? [] : [line(joined, "", deciding, "term")];
    if (method().visual.length && equation !== null) terms.push(line(added, "", weighed, "term"));
    terms.push(line("score", "", score, "score", (id) => deciding[id] < cutoff));
    at("rounds").innerHTML = `<thead><tr><th scope="col">round</th><th scope="col">says</th>` +
      columns.map((id) => `<th scope="col"${id === slot ? ' class="winner"' : ""}>` +
        `${escape(piece(id))}</th>`).join("") + `</tr></thead><tbody>` +
      [...lines, ...terms].join("") + "</tbody>";
    const canvases = at("rounds").querySelectorAll("canvas");
    rounds.forEach(({ picture }, i) => {
      if (picture) put(canvases[i], picture); else canvases[i].remove();
    });
    const left = tc.length - deciding.filter((value) => value < cutoff).length;
    at("cutoff").textContent = equation === null
      ? "The base takes the token with the largest logit; nothing is dropped."
      : cutoff === -Infinity ? "At β 0 nothing is dropped; the largest score wins."
      : `Of ${tc.length} tokens ${left} survive: one is dropped where ${joined} lies below ` +
        `${signed(cutoff)}, the largest less ln(1/β). Of the survivors the largest score wins.`;
    at("prompts").innerHTML = rounds.map(({ name, prompt }) =>
      `<dt>${escape(name)}</dt><dd>${escape(prompt)}</dd>`).join("");
  }

  function drawControls() {
    at("scene").value = state.scene;
    if (at("prompt").value !== state.prompt) at("prompt").value = state.prompt;
    for (const button of host.querySelectorAll("[data-method]"))
      button.setAttribute("aria-pressed", button.dataset.method === state.method);
    host.querySelector("[data-reset]").disabled = !isChanged();
    host.querySelector("[data-load]").hidden = loaded;
    at("answered").hidden = !loaded;
    drawEditor();
    history.replaceState(null, "", address());
  }

  /* What the model says of the scene as it was, once for each question and method. */
  async function unchanged(prompt, name) {
    const key = [state.scene, name, prompt].join();
    if (!before.has(key)) {
      const rgb = await drawn(scene().things);
      before.set(key, await ask("answer", { rgb, prompt, method: setup.methods[name] }));
    }
    return before.get(key);
  }

  async function drawOnce() {
    drawControls();
    const { prompt, method: name } = state, changed = isChanged();
    const rgb = over(await drawn(state.things));
    put(at("picture"), rgb);
    if (!loaded) return;
    const started = performance.now();
    const now = await ask("answer", { rgb, prompt, method: setup.methods[name] });
    const seconds = (performance.now() - started) / 1000, unknown = await ask("unknown", { text: prompt });
    at("unknown").textContent = unknown.length
      ? `Words that this model never learnt, and spells: ${unknown.join(", ")}.` : "";
    shown = now;
    drawRounds(now);
    drawAnswers(now, changed ? await unchanged(prompt, name) : null);
    at("time").textContent = `Answered in ${seconds.toFixed(2)} seconds, on this machine.`;
    history.replaceState(null, "", address());
  }

  /* Draws what is asked for last; what came between is passed over. */
  async function draw() {
    again = true;
    if (drawing) return;
    await drawAll();
  }

  async function drawAll() {
    drawing = true;
    try {
      do {
        again = false;
        await drawOnce();
      } while (again);
    } catch (error) {
      say(error.message);
    }
    drawing = false;
  }

  /* --- what is done ------------------------------------------------------------------------ */

  function change(part) {
    Object.assign(state, { step: 0, ...part });
    say("");
    draw();
  }

  function editThing(name, value) {
    const others = state.things.filter((each) => each.cell !== cell);
    const thing = state.things.find((each) => each.cell === cell);
    if (name === "kind" && value === "nothing") return change({ things: others });
    const colour = thing && thing.kind !== "sign" ? thing.colour : world.colours[0];
    const made = name !== "kind" ? { ...thing, [name]: value }
      : value === "sign" ? { kind: value, colour: "white", cell, text: world.symbols[0] }
        : { kind: value, colour, cell, ...(value === "lamp" ? { on: true } : {}) };
    if (name === "cell") cell = value;
    change({ things: [...others, made] });
  }

  function paint({ clientX, clientY }) {
    const box = at("picture").getBoundingClientRect(), last = SIDE / DOT - 1;
    const place = (value, from, size) =>
      Math.max(0, Math.min(last, Math.round((value - from) / size * SIDE / DOT - 1)));
    const dot = `${place(clientX, box.left, box.width)} ${place(clientY, box.top, box.height)}`;
    change({ dots: new Map(state.dots).set(dot, at("brush").value) });
  }

  const CHANGED = {
    scene: (value) => change(
      { scene: +value, things: world.scenes[value].things, covered: [], dots: new Map() }),
    kind: (value) => editThing("kind", value),
    colour: (value) => editThing("colour", value),
    text: (value) => editThing("text", value),
    to: (value) => editThing("cell", +value),
    on: (_, checked) => editThing("on", checked),
    covered: (_, checked) => change({ covered: checked ? [...state.covered, cell]
      : state.covered.filter((place) => place !== cell) }),
    painting: (_, checked) => { painting = checked; drawEditor(); },
    prompt: (value) => change({ prompt: value }),
  };
  const QUESTION = ["family", "about", "value", "form"];

  async function loadAsked() {
    const button = host.querySelector("[data-load]");
    button.disabled = true;
    say(`Loading the model, ${setup.megabytes} MB …`);
    try {
      const { vectors } = await load();
      say(vectors ? "" : "This browser has no vectors for scripts: answers take some seconds.");
      await draw();
      host.querySelector("[data-method][aria-pressed=true]").focus();
    } catch (error) {
      button.disabled = false;
      say(`The model cannot be loaded: ${error.message}`);
    }
  }

  async function copy() {
    try {
      await navigator.clipboard.writeText(location.href);
      say("The link is copied.");
    } catch {
      say("This browser lets no page copy; the address in its bar is the link.");
    }
  }

  function listen() {
    host.addEventListener("click", ({ target }) => {
      const { method: name, step, cell: place } = target.dataset;
      if (name) change({ method: name });
      if (place) { cell = +place; drawEditor(); }
      if (step && shown) {
        state.step = +step;
        drawRounds(shown);
        history.replaceState(null, "", address());
        host.querySelector(`[data-step="${step}"]`).focus();
      }
      if ("load" in target.dataset) loadAsked();
      if ("copy" in target.dataset) copy();
      if ("reset" in target.dataset)
        change({ things: scene().things, covered: [], dots: new Map() });
    });
    host.addEventListener("input", ({ target }) => {
      const { part } = target.dataset;
      if (QUESTION.includes(part)) {
        drawQuestion();
        change({ prompt: composed() });
      } else if (CHANGED[part]) CHANGED[part](target.value, target.checked);
    });
    const picture = at("picture");
    picture.addEventListener("pointerdown", (event) => {
      if (!painting) return;
      picture.setPointerCapture(event.pointerId);
      paint(event);
    });
    picture.addEventListener("pointermove", (event) => {
      if (painting && picture.hasPointerCapture(event.pointerId)) paint(event);
    });
    window.addEventListener("hashchange", () => {
      const said = readAddress();
      draw();
      say(said);
    });
  }

  async function begin() {
    host = document.getElementById("sci-live");
    if (!host) return;
    host.hidden = false;
    try {
      await start();
      at("scene").innerHTML = world.scenes.map(({ place, light }, i) =>
        `<option value="${i}">${i + 1}: ${place}${light === "clear" ? "" : `, ${light}`}</option>`)
        .join("");
      at("cells").innerHTML = world.cells.map((_, place) =>
        `<button type="button" data-cell="${place}"></button>`).join("");
      at("brush").innerHTML = options(Object.keys(PAINTS));
      at("methods").innerHTML = Object.entries(setup.methods).map(([name, { label, sentence }]) =>
        `<button type="button" data-method="${escape(name)}" title="${escape(sentence)}">` +
        `${escape(label)}</button>`).join("\n");
      host.querySelector("[data-load]").textContent =
        `Load the model (${setup.megabytes} MB) and ask it`;
      const said = readAddress();
      const kind = state.things.find((thing) => thing.kind !== "sign")?.kind;
      at("family").innerHTML = options(Object.keys(setup.questions.families), "colour");
      at("about").innerHTML = options(world.kinds, kind);
      drawQuestion();
      state.prompt ||= composed();
      listen();
      await drawAll();
      say(said);
    } catch (error) {
      say(`The page cannot start: ${error.message}`);
    }
  }

  document.addEventListener("DOMContentLoaded", begin);
  return {
    setup: (content) => { setup = content; },
    world: (content) => { world = content; },
    weights: (content) => { weights = content; },
    start,
    load,
    ask,
    idle: () => !drawing, // nor waiting for its data
    methods: () => setup.methods,
  };
})();
