/* The explorer's page: one question in all its rounds, and what a setting does to all rows. */
"use strict";

const SCI_EXPLORER = (() => {
  // By constant, its least and greatest value; a slider's steps are equal ratios.
  const SLIDERS = { tau1: [0.2, 20], tau2: [0.05, 5], beta: [0.005, 1] };
  const STEPS = 300;
  const LOOSE = 6; // logits; `replay.LOOSE`
  const COLUMNS = 6; // kept tokens that are shown, the winner beside
  const DEPTH = 6; // logits below the best of a row, where a bar ends
  const OUTCOMES = ["corrected", "spoilt", "right before and after", "wrong before and after"];

  const models = {};
  const state = { model: "", row: 0, step: 0, wanted: "", method: null };
  // By name, the presets and equations that `sci_book.methods` exports, and the controls; and the
  // recorded rounds, with a sentence on each.
  let METHODS = {}, RULES = {}, CONTROLS = {}, TEXTUAL = [], VISUAL = [], SAID = {};
  let heads = [], questions = [], absent = "", host, waiting = 0;
  const known = {}; // by model: accuracies of what is fixed, and of the setting last drawn

  /* --- small helpers --------------------------------------------------------------------- */

  const at = (name) => host.querySelector(`[data-part="${name}"]`);
  const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const shortly = (number) => Number(number.toPrecision(3));
  const base = () => document.querySelector("script[data-explorer]").src.replace(/[^/]*$/, "");
  const visible = (token) => token === "" ? "(end)" : token.replace(/ /g, "␣").replace(/\n/g, "⏎");

  function load(name) {
    return new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = `${base()}${name}.js`;
      script.onload = done;
      script.onerror = () => failed(
        new Error(`${name}.js is not beside this page. Build the book anew.`));
      document.head.append(script);
    });
  }

  /* The rule that takes any number of rounds. */
  const ofAnyRounds = () => Object.keys(RULES).find((name) => RULES[name].rounds === null);

  function methodName(method) {
    const same = (other) => ["rule", "tau1", "tau2", "beta"].every((k) => other[k] === method[k])
      && `${other.textual};${other.visual}` === `${method.textual};${method.visual}`;
    return Object.keys(METHODS).find((name) => same(METHODS[name])) || "";
  }

  /* --- the address ------------------------------------------------------------------------ */

  function address() {
    const { rule, textual, visual, tau1, tau2, beta } = state.method;
    const parts = { m: state.model, q: state.row, rule, rounds: [...textual, ...visual].join("."),
                    tau1, tau2, beta };
    return "#" + Object.entries(parts).map(([key, value]) => `${key}=${value}`).join("&");
  }

  function readAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    const problems = [];
    const take = (key, known, use) => {
      if (!given.has(key)) return;
      if (known(given.get(key))) use(given.get(key)); else problems.push(`${key}=${given.get(key)}`);
    };
    take("m", (name) => heads.some((head) => head.name === name), (name) => { state.model = name; });
    take("q", (row) => questions.some((q) => q.row === +row), (row) => { state.row = +row; });
    const method = { ...state.method };
    take("rule", (rule) => Object.values(METHODS).some((each) => each.rule === rule),
         (rule) => { method.rule = rule; });
    take("rounds", (text) => text.split(".").every((r) => !r || [...TEXTUAL, ...VISUAL].includes(r)),
         (text) => {
           method.textual = TEXTUAL.filter((name) => text.split(".").includes(name));
           method.visual = VISUAL.filter((name) => text.split(".").includes(name));
         });
    for (const [key, [least, most]] of Object.entries(SLIDERS))
      take(key, (text) => +text >= least && +text <= most, (text) => { method[key] = +text; });
    // TIE, VCD and M3ID read one dummy; any other choice of rounds is SCI's.
    const { equation, rounds } = RULES[method.rule];
    if (equation !== null && rounds !== null
        && `${rounds}` !== `${[method.textual.length, method.visual.length]}`)
      method.rule = ofAnyRounds();
    state.method = method;
    return problems.length ? `Not understood in the address, so left out: ${problems.join(", ")}.` : "";
  }

  /* --- what is drawn ---------------------------------------------------------------------- */

  const question = () => questions.find((each) => each.row === state.row);
  const asked = () => questions.filter(
    (each) => !state.wanted || each.outcomes[state.model] === state.wanted);
  const number = () => questions.indexOf(question());

  function answerOf(model, found) {
    const said = found.steps.map(({ node, slot }) => model.pieces[node][slot]).join("").trim();
    const verdict = found.end === SciEngine.RIGHT ? "right"
      : found.end === SciEngine.UNSETTLED ? "not settled by the records" : "wrong";
    return { said: said || "(nothing)", verdict };
  }

  function drawQuestion(model) {
    const q = question();
    at("picture").src = `${base()}pictures/${number()}-original.webp`;
    at("picture").alt = `The picture that is asked about: ${q.question}`;
    const options = Object.entries(q.options)
      .map(([letter, text]) => `<li${letter === q.truth ? ' class="truth"' : ""}>` +
        `${letter}. ${escape(text)}${letter === q.truth ? " ✓" : ""}</li>`).join("");
    at("asked").innerHTML = `<p class="asked">${escape(q.question)}</p>` +
      (options ? `<ul>${options}</ul>` : `<p>Right: <b>${escape(q.truth)}</b></p>`) +
      `<p class="muted">A “${escape(q.family.replace(/_/g, " "))}” question of the twin of ` +
      `${escape(q.set.replace(/_/g, "-"))}, in ${q.language}. ` +
      `SCI5, after the base: ${q.outcomes[model.name]}.</p>`;
    const line = (name, { said, verdict }, title = "") =>
      `<tr><th scope="row" title="${escape(title)}">${name}</th><td>${escape(said)}</td>` +
      `<td class="${verdict}">${verdict}</td></tr>`;
    const decoded = (name, method) =>
      line(name, answerOf(model, SciEngine.path(model, method, q.row)));
    const controls = Object.values(CONTROLS).map((control) => {
      const { said, right } = SciEngine.answer(model, control, q.row);
      const shown = { said: said || "(nothing)", verdict: right ? "right" : "wrong" };
      return line(escape(control.label), shown, control.sentence);
    });
    at("answers").innerHTML = decoded("base", METHODS.base) + controls.join("") +
      decoded("VCD", METHODS.VCD) +
      decoded(`your setting${methodName(state.method) ? ` (${methodName(state.method)})` : ""}`,
              state.method);
  }

  /* Places of the kept tokens to show: the likeliest, and whatever wins. */
  function places(terms, original, winners) {
    const order = [...original.keys()].sort((a, b) => original[b] - original[a]);
    return [...new Set([...order.slice(0, COLUMNS), ...winners])];
  }

  function drawRounds(model) {
    const q = question(), steps = SciEngine.path(model, state.method, q.row).steps;
    state.step = Math.min(state.step, steps.length - 1);
    const { node, slot } = steps[state.step];
    const terms = SciEngine.score(model, state.method, node);
    const [from, to] = [model.start[node], model.start[node + 1]];
    const values = model.columns.map((z) => z.subarray(from, to));
    const chosen = places(terms, values[0], [slot]);
    const pieces = model.pieces[node];
    at("steps").innerHTML = steps.length < 2 ? "" : "Token " + steps.map((step, i) =>
      `<button type="button" data-step="${i}" aria-pressed="${i === state.step}">` +
      `${i + 1}: ${escape(visible(model.pieces[step.node][step.slot]))}</button>`).join(" ");
    const head = `<tr><th scope="col">round</th>` + chosen.map((k) =>
      `<th scope="col"${k === slot ? ' class="winner"' : ""}>${escape(visible(pieces[k]))}</th>`)
      .join("") + "</tr>";
    const line = (label, all, cls, dropped = () => false) => {
      const best = Math.max(...chosen.filter((k) => !dropped(k)).map((k) => all[k]));
      return `<tr class="${cls}"><th scope="row">${label}</th>` + chosen.map((k) => {
        if (dropped(k)) return `<td class="dropped">dropped</td>`;
        const share = Math.max(0, Math.round(100 * (1 - (best - all[k]) / DEPTH)));
        const wins = cls === "score" && k === slot ? " winner" : "";
        return `<td class="bar${wins}" style="--share:${share}%">${signed(all[k].toFixed(2))}</td>`;
      }).join("") + "</tr>";
    };
    const { rule, textual, visual } = state.method;
    const used = [...textual, ...visual];
    const rounds = model.rounds.map((name, r) => {
      const image = `<img src="${base()}pictures/${number()}-${model.visual[r] ? name : "original"}` +
        `.webp" alt="" width="36" height="36">`;
      const box = name === "original" ? `<span class="always">always</span>`
        : `<input type="checkbox" data-round="${name}"${used.includes(name) ? " checked" : ""} ` +
          `aria-label="use the round ${name}">`;
      const label = `<label title="${escape(SAID[name] || "")}">${box} ${image} ${name}</label>`;
      const off = name !== "original" && !used.includes(name);
      return line(label, values[r], off ? "round off" : "round");
    }).join("");
    const cut = (k) => terms.deciding[k] < terms.cutoff;
    const { equation, decides, constants } = RULES[rule];
    const tc = decides === "textual" ? "TC / τ1" : "original";
    const [vc, added] = constants.includes("tau2")
      ? ["VC / τ2", terms.vc.map((z) => z / state.method.tau2)] : ["VC", terms.vc];
    const rows = rounds + line(tc, terms.deciding, "term") +
      (visual.length ? line(vc, added, "term") : "") + line("score", terms.score, "score", cut);
    at("rounds").innerHTML = `<thead>${head}</thead><tbody>${rows}</tbody>`;
    at("cutoff").textContent = equation === null
      ? "The base takes the token with the largest logit; nothing is dropped."
      : `A token is dropped where ${tc} lies below ${signed(terms.cutoff.toFixed(2))}: ` +
        "the largest value less ln(1/β). Of the others the largest score wins.";
    const prompts = q.prompts[model.name];
    at("prompts").innerHTML = Object.entries(prompts).map(([name, text]) =>
      `<dt>${name}</dt><dd>${escape(text)}</dd>`).join("");
  }

  const signed = (text) => text.replace("-", "−");

  function range(low, high) {
    const [least, most] = [low, high].map((value) => signed(value.toFixed(1)));
    return least === most ? least : `${least} to ${most}`;
  }

  function cell({ low, high, n }) {
    return n ? `<td class="bar" style="--share:${Math.round(low)}%">${range(low, high)}</td>`
      : "<td>none</td>";
  }

  function drawAccuracy(model) {
    const before = known[model.name] ||= { fixed: {
      base: SciEngine.accuracy(model, METHODS.base),
      ...Object.fromEntries(Object.values(CONTROLS).map(
        (control) => [control.label, SciEngine.accuracyOf(model, control)])),
      VCD: SciEngine.accuracy(model, METHODS.VCD),
    } };
    if (before.method !== state.method)
      Object.assign(before, { method: state.method, own: SciEngine.accuracy(model, state.method) });
    const lines = { ...before.fixed, "your setting": before.own };
    const names = Object.keys(SciEngine.SUBSETS);
    const sizes = names.map((name) => lines.base[name].n.toLocaleString("en"));
    const gains = names.map((name) => {
      const [first, last] = [lines.base[name], lines["your setting"][name]];
      return first.n ? range(last.low - first.high, last.high - first.low) : "none";
    });
    at("accuracy").innerHTML =
      `<thead><tr><th scope="col">accuracy, %</th>${names.map((n, i) =>
        `<th scope="col">${n}<br><small>${sizes[i]} rows</small></th>`).join("")}</tr></thead><tbody>` +
      Object.entries(lines).map(([name, line]) =>
        `<tr><th scope="row">${name}</th>${names.map((n) => cell(line[n])).join("")}</tr>`).join("") +
      `<tr><th scope="row">your setting less base</th>` +
      gains.map((gain) => `<td>${gain}</td>`).join("") + "</tr></tbody>";
    const margin = state.method.tau1 * -Math.log(state.method.beta);
    at("loose").textContent = RULES[state.method.rule].equation !== null && margin > LOOSE
      ? `This constraint spares tokens ${margin.toFixed(1)} logits below the best. The records tell ` +
        "the first token of such a setting; how its answers go on, they do not." : "";
  }

  function drawControls() {
    const name = methodName(state.method), { method } = state;
    for (const button of host.querySelectorAll("[data-method]"))
      button.setAttribute("aria-pressed", button.dataset.method === name);
    for (const [key, [least, most]] of Object.entries(SLIDERS)) {
      const slider = host.querySelector(`[data-slider="${key}"]`);
      const off = !RULES[method.rule].constants.includes(key);
      slider.disabled = off;
      slider.value = Math.round(STEPS * Math.log(method[key] / least) / Math.log(most / least));
      slider.setAttribute("aria-valuetext", String(method[key]));
      at(key).textContent = off ? "not used" : method[key];
    }
    at("model").value = state.model;
    at("wanted").value = state.wanted;
    at("question").innerHTML = asked().map((q) => `<option value="${q.row}">` +
      `${escape(q.question.slice(0, 70))} (${q.language})</option>`).join("");
    at("question").value = state.row;
  }

  function draw() {
    const model = models[state.model];
    if (!model) return;
    drawControls();
    drawQuestion(model);
    drawRounds(model);
    drawAccuracy(model);
    history.replaceState(null, "", address());
  }

  /* A drag asks for many drawings; a frame makes one. */
  function soon() {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(draw);
  }

  async function show() {
    if (!models[state.model]) {
      at("status").textContent = "Reading the recorded logits …";
      await load(state.model);
      at("status").textContent = "";
    }
    if (!asked().some((each) => each.row === state.row)) state.row = asked()[0].row;
    draw();
  }

  /* --- what is done ----------------------------------------------------------------------- */

  function toggle(name) {
    const method = { ...state.method };
    const usual = method.tau1 === 1 + method.textual.length / 2;
    const flip = (all, chosen) => all.filter((each) => chosen.includes(each) !== (each === name));
    if (TEXTUAL.includes(name)) method.textual = flip(TEXTUAL, method.textual);
    else method.visual = flip(VISUAL, method.visual);
    method.rule = ofAnyRounds();
    // The paper's temperature follows the number of rewordings (appendix D).
    if (usual) method.tau1 = 1 + method.textual.length / 2;
    state.method = method;
    draw();
    host.querySelector(`[data-round="${name}"]`).focus();
  }

  function move(by) {
    const all = asked(), here = all.findIndex((each) => each.row === state.row);
    state.row = all[(here + by + all.length) % all.length].row;
    state.step = 0;
    draw();
  }

  function listen() {
    host.addEventListener("click", ({ target }) => {
      const { method, step, move: by } = target.dataset;
      if (method) { state.method = { ...METHODS[method] }; draw(); }
      if (step) { state.step = +step; draw(); host.querySelector(`[data-step="${step}"]`).focus(); }
      if (by) move(+by);
    });
    host.addEventListener("input", ({ target }) => {
      const { slider, part, round } = target.dataset;
      if (slider) {
        const [least, most] = SLIDERS[slider];
        state.method = { ...state.method,
                         [slider]: shortly(least * (most / least) ** (target.value / STEPS)) };
        soon();
      }
      if (round) toggle(round);
      if (part === "model") { state.model = target.value; show(); }
      if (part === "wanted") { state.wanted = target.value; show(); }
      if (part === "question") { state.row = +target.value; state.step = 0; draw(); }
    });
    window.addEventListener("hashchange", () => {
      const said = readAddress();
      show().then(() => { at("status").textContent = said; });
    });
  }

  async function begin() {
    host = document.getElementById("sci-explorer");
    host.hidden = false;
    try {
      await load("questions");
      if (absent) throw new Error(absent);
      Object.values(METHODS).forEach(SciEngine.ruleOf);
      Object.values(CONTROLS).forEach(SciEngine.controlOf);
      state.model = heads[0].name;
      state.method = { ...METHODS.SCI5 };
      at("methods").innerHTML = Object.entries(METHODS).map(([name, { label, sentence }]) =>
        `<button type="button" data-method="${escape(name)}" title="${escape(sentence)}">` +
        `${escape(label)}</button>`).join("\n");
      state.row = (questions.find((q) => q.outcomes[state.model] === "corrected")
        || questions[0]).row;
      at("model").innerHTML = heads.map(
        ({ name, title }) => `<option value="${name}">${escape(title)}</option>`).join("");
      at("wanted").innerHTML = ["", ...OUTCOMES].map(
        (each) => `<option value="${each}">${each || "any"}</option>`).join("");
      const said = readAddress();
      listen();
      await show();
      at("status").textContent = said;
    } catch (error) {
      at("status").textContent = `The explorer cannot start: ${error.message}`;
    }
  }

  document.addEventListener("DOMContentLoaded", begin);
  return {
    questions: (content) => {
      ({ models: heads, questions, textual: TEXTUAL, visual: VISUAL, said: SAID,
         methods: METHODS, rules: RULES, controls: CONTROLS } = content);
      SciEngine.rules(RULES);
    },
    absent: (reason) => { absent = reason; },
    model: (content) => { models[content.name] = SciEngine.decode(content); },
    accuracy: (name, method) => SciEngine.accuracy(models[name], method),
    control: (name, control) => {
      const model = models[name], rows = [...model.root.keys()];
      return rows.map((row) => SciEngine.answer(model, CONTROLS[control], row));
    },
    accuracyOf: (name, control) => SciEngine.accuracyOf(models[name], CONTROLS[control]),
    rules: () => RULES,
  };
})();
