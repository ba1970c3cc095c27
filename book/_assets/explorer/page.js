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
  const DIFFERS = "differs from the kept setting";
  // `kept` is the setting that the present one is held against; `allTokens`: show what is no option.
  const state = { model: "", row: 0, step: 0, wanted: "", method: null, kept: null,
                  allTokens: false };
  // By name, the presets and equations that `sci_book.methods` exports, and the controls; and the
  // recorded rounds, with a sentence on each.
  let METHODS = {}, RULES = {}, CONTROLS = {}, TEXTUAL = [], VISUAL = [], SAID = {}, COSTS = {};
  let heads = [], questions = [], absent = "", host, waiting = 0, imageTokens = 0;
  const known = {}; // by model: accuracies of what is fixed, and of the setting last drawn

  /* --- small helpers --------------------------------------------------------------------- */

  const at = (name) => host.querySelector(`[data-part="${name}"]`);
  const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
  const language = (text) => /[\u4e00-\u9fff]/.test(text) ? ' lang="zh"' : "";
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

  /* α where a rule reads it and it is not the usual one, which the base, that reads none, has. */
  const ownAlpha = ({ rule, alpha }) =>
    RULES[rule].constants.includes("alpha") && alpha !== METHODS.base.alpha ? [alpha] : [];

  /* A setting in one word, as the address has it. */
  const written = (method) => {
    const { rule, textual, visual, tau1, tau2, beta } = method;
    return [rule, [...textual, ...visual].join("."), tau1, tau2, beta, ...ownAlpha(method)].join(",");
  };

  const methodName = (method) =>
    Object.keys(METHODS).find((name) => written(METHODS[name]) === written(method)) || "";

  /* How a reader knows a setting: a preset's name, or what it reads. */
  function described(method) {
    const { rule, textual, visual } = method, { constants } = RULES[rule];
    const signs = { tau1: "τ1", tau2: "τ2", beta: "β" };
    const values = constants.filter((key) => signs[key]).map((key) => `${signs[key]} ${method[key]}`);
    values.push(...ownAlpha(method).map((alpha) => `α ${alpha}`));
    return methodName(method)
      || `${rule} of ${["original", ...textual, ...visual].join(", ")}; ${values.join(", ")}`;
  }

  /* Tokens that a setting reads, in multiples of the base's. */
  const cost = ({ textual, visual }) =>
    [...textual, ...visual].reduce((sum, name) => sum + COSTS[name], 1);

  /* --- the address ------------------------------------------------------------------------ */

  function address() {
    const { rule, textual, visual, tau1, tau2, beta } = state.method;
    const parts = { m: state.model, q: state.row, rule, rounds: [...textual, ...visual].join("."),
                    tau1, tau2, beta };
    for (const alpha of ownAlpha(state.method)) parts.alpha = alpha;
    if (state.wanted) parts.show = state.wanted.replace(/ /g, "_");
    if (state.kept) parts.kept = written(state.kept);
    if (state.allTokens) parts.tokens = "all";
    return "#" + Object.entries(parts).map(([key, value]) => `${key}=${value}`).join("&");
  }

  const rulesUsed = () => Object.values(METHODS).map((each) => each.rule);
  const knownRounds = (text) =>
    text.split(".").every((name) => !name || [...TEXTUAL, ...VISUAL].includes(name));
  const roundsOf = (text) => ({
    textual: TEXTUAL.filter((name) => text.split(".").includes(name)),
    visual: VISUAL.filter((name) => text.split(".").includes(name)),
  });
  // Within a slider's range, or what a preset has: β 0 switches the constraint off.
  const within = (key, text) => (+text >= SLIDERS[key][0] && +text <= SLIDERS[key][1])
    || Object.values(METHODS).some((method) => text === String(method[key]));
  const finite = (text) => text.trim() !== "" && Number.isFinite(+text);

  /* Whether a setting's rounds are as many as its rule reads. */
  function fits({ rule, textual, visual }) {
    const { equation, rounds } = RULES[rule];
    const given = [textual.length, visual.length];
    return equation === null || rounds === null || `${rounds}` === `${given}`;
  }

  /* The setting that `written` wrote; null for what is none. */
  function settingOf(text) {
    const [rule, rounds = "?", ...constants] = text.split(","), keys = Object.keys(SLIDERS);
    const [alpha = `${METHODS.base.alpha}`, ...more] = constants.splice(keys.length);
    if (!rulesUsed().includes(rule) || !knownRounds(rounds) || constants.length !== keys.length
        || !keys.every((key, i) => within(key, constants[i])) || !finite(alpha) || more.length)
      return null;
    const values = Object.fromEntries(keys.map((key, i) => [key, +constants[i]]));
    values.alpha = +alpha;
    const method = { ...METHODS.SCI5, rule, ...roundsOf(rounds), ...values };
    return fits(method) ? method : null;
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
    state.kept = null;
    take("kept", (text) => settingOf(text) !== null, (text) => { state.kept = settingOf(text); });
    const wanted = (text) => text.replace(/_/g, " ");
    take("show", (text) => ["", ...OUTCOMES].includes(wanted(text))
                           || (wanted(text) === DIFFERS && state.kept),
         (text) => { state.wanted = wanted(text); });
    state.allTokens = given.get("tokens") === "all";
    const method = { ...state.method };
    take("rule", (rule) => rulesUsed().includes(rule), (rule) => { method.rule = rule; });
    take("rounds", knownRounds, (text) => Object.assign(method, roundsOf(text)));
    for (const key of Object.keys(SLIDERS))
      take(key, (text) => within(key, text), (text) => { method[key] = +text; });
    method.alpha = METHODS.base.alpha;
    take("alpha", finite, (text) => { method.alpha = +text; });
    // TIE, VCD and M3ID read one dummy; any other choice of rounds is SCI's.
    if (!fits(method)) method.rule = ofAnyRounds();
    state.method = method;
    return problems.length ? `Not understood in the address, so left out: ${problems.join(", ")}.` : "";
  }

  /* --- what is drawn ---------------------------------------------------------------------- */

  const question = () => questions.find((each) => each.row === state.row);
  const differing = () => questions.filter(({ row }) => state.kept && models[state.model]
    && said(row, state.kept) !== said(row, state.method));
  const asked = () => state.wanted === DIFFERS ? differing() : questions.filter(
    (each) => !state.wanted || each.outcomes[state.model] === state.wanted);
  const number = () => questions.indexOf(question());

  function answerOf(model, found) {
    const said = found.steps.map(({ node, slot }) => model.pieces[node][slot]).join("").trim();
    const verdict = found.end === SciEngine.RIGHT ? "right"
      : found.end === SciEngine.UNSETTLED ? "not settled by the records" : "wrong";
    return { said: said || "(nothing)", verdict };
  }

  /* What a setting answers to a row of the model shown. */
  const said = (row, method) =>
    answerOf(models[state.model], SciEngine.path(models[state.model], method, row)).said;

  function drawQuestion(model) {
    const q = question();
    at("picture").src = `${base()}pictures/${number()}-original.webp`;
    at("picture").alt = `The picture that is asked about: ${q.question}`;
    const options = Object.entries(q.options)
      .map(([letter, text]) => `<li${language(text)}${letter === q.truth ? ' class="truth"' : ""}>` +
        `${letter}. ${escape(text)}${letter === q.truth ? " ✓" : ""}</li>`).join("");
    at("asked").innerHTML = `<p class="asked"${language(q.question)}>${escape(q.question)}</p>` +
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
      (state.kept ? decoded(`kept (${escape(described(state.kept))})`, state.kept) : "") +
      decoded(`your setting${methodName(state.method) ? ` (${methodName(state.method)})` : ""}`,
              state.method);
  }

  /* Places of the kept tokens to show: the likeliest that read as an answer, and whatever wins. */
  function places(model, node, original, winners) {
    const order = [...original.keys()].sort((a, b) => original[b] - original[a]);
    const options = order.filter((slot) => model.reads[model.start[node] + slot]);
    const offered = !state.allTokens && options.length > 1 ? options : order;
    return [...new Set([...offered.slice(0, COLUMNS), ...winners])];
  }

  function drawRounds(model) {
    const q = question(), steps = SciEngine.path(model, state.method, q.row).steps;
    state.step = Math.min(state.step, steps.length - 1);
    const { node, slot } = steps[state.step];
    const terms = SciEngine.score(model, state.method, node);
    const [from, to] = [model.start[node], model.start[node + 1]];
    const values = model.columns.map((z) => z.subarray(from, to));
    const chosen = places(model, node, values[0], [slot]);
    const pieces = model.pieces[node];
    at("steps").innerHTML = steps.length < 2 ? "" : "Token " + steps.map((step, i) =>
      `<button type="button" data-step="${i}" aria-pressed="${i === state.step}">` +
      `${i + 1}: ${escape(visible(model.pieces[step.node][step.slot]))}</button>`).join(" ");
    const won = (k) => (k === slot ? " won" : "");
    const head = `<tr><th scope="col">round</th>` + chosen.map((k) =>
      `<th scope="col" class="${won(k)}${k === slot ? " winner" : ""}">` +
      `${escape(visible(pieces[k]))}</th>`).join("") + "</tr>";
    const cut = (k) => terms.deciding[k] < terms.cutoff;
    const left = chosen.filter((k) => !cut(k));
    const row = (label, cls, cells) =>
      `<tr class="${cls}"><th scope="row">${label}</th>${cells.join("")}</tr>`;
    const text = (value) => SciEngine.fixed(value, 2);
    /* Bars that are full for the best of the row that is not dropped, and gone at DEPTH below;
       `mark`: a value that a line is drawn at. */
    const line = (label, all, cls, dropped = () => false, mark = -Infinity) => {
      const best = Math.max(...left.map((k) => all[k]));
      const share = (value) =>
        Math.min(100, Math.max(0, Math.round(100 * (1 - (best - value) / DEPTH))));
      const at = Number.isFinite(mark) ? `;--cut:${share(mark)}%` : "";
      return row(label, cls, chosen.map((k) => {
        if (dropped(k)) return `<td class="dropped${won(k)}">dropped</td>`;
        const wins = cls === "score" && k === slot ? " winner" : "";
        return `<td class="bar${at && " cut"}${wins}${won(k)}" ` +
          `style="--share:${share(all[k])}%${at}">${text(all[k])}</td>`;
      }));
    };
    /* Bars to both sides of zero, as long as the largest of what is not dropped allows. */
    const around = (label, all, cls) => {
      const largest = Math.max(...left.map((k) => Math.abs(all[k]))) || 1;
      return row(label, cls, chosen.map((k) => {
        const reach = 50 * Math.min(1, Math.abs(all[k]) / largest);
        const ends = all[k] < 0 ? [50 - reach, 50] : [50, 50 + reach];
        return `<td class="signed${cut(k) ? " faint" : ""}${won(k)}" ` +
          `style="--from:${ends[0].toFixed(1)}%;--to:${ends[1].toFixed(1)}%">${text(all[k])}</td>`;
      }));
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
    const { equation, decides, constants } = RULES[rule];
    const tc = decides === "textual" ? "TC / τ1" : "original";
    const [vc, added] = constants.includes("tau2")
      ? ["VC / τ2", terms.vc.map((z) => z / state.method.tau2)] : ["VC", terms.vc];
    const rows = rounds + line(tc, terms.deciding, "term", undefined, terms.cutoff) +
      (visual.length ? around(vc, added, "term") : "") + line("score", terms.score, "score", cut);
    at("rounds").innerHTML = `<thead>${head}</thead><tbody>${rows}</tbody>`;
    at("cutoff").textContent = equation === null
      ? "The base takes the token with the largest logit; nothing is dropped."
      : terms.cutoff === -Infinity ? "At β 0 nothing is dropped; the largest score wins."
      : `A token is dropped where ${tc} lies below ${text(terms.cutoff)}: ` +
        "the largest value less ln(1/β), the line in its row. Of the others the largest score wins.";
    const prompts = q.prompts[model.name];
    at("prompts").innerHTML = Object.entries(prompts).map(([name, text]) =>
      `<dt>${name}</dt><dd${language(text)}>${escape(text)}</dd>`).join("");
  }

  function range(low, high) {
    const [least, most] = [low, high].map((value) => SciEngine.fixed(value, 1));
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
    if (state.kept && before.kept?.method !== state.kept)
      before.kept = { method: state.kept, line: SciEngine.accuracy(model, state.kept) };
    const lines = { ...before.fixed, ...(state.kept ? { kept: before.kept.line } : {}),
                    "your setting": before.own };
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
    const spares = margin === Infinity ? "every token"
      : `tokens ${SciEngine.fixed(margin, 1)} logits below the best`;
    at("loose").textContent = RULES[state.method.rule].equation !== null && margin > LOOSE
      ? `This constraint spares ${spares}. The records tell ` +
        "the first token of such a setting; how its answers go on, they do not." : "";
  }

  function drawComparison() {
    const [own, kept] = [state.method, state.kept].map(
      (method) => method && SciEngine.fixed(cost(method), 2));
    const times = `It reads ${own} times the base's tokens, for a picture of ${imageTokens} tokens ` +
      "with prefixes shared";
    const apart = differing();
    at("cost").textContent = state.kept
      ? `${times}; the kept setting ${kept} times.` : `${times}.`;
    at("kept").innerHTML = !state.kept ? "" :
      `Kept: ${escape(described(state.kept))}. Of ${questions.length} questions shown here ` +
      `${apart.length} are answered otherwise` + (apart.length ? ": " : ".") +
      apart.slice(0, 8).map(({ row, question }) => `<button type="button" data-question="${row}">` +
        `${escape(question.slice(0, 40))}</button>`).join(" ") +
      (apart.length > 8 ? ` and ${apart.length - 8} more.` : "");
    host.querySelector("[data-do=drop]").hidden = !state.kept;
  }

  /* Three settings and questions to begin with. They are buttons: the theme takes the address of a
     link within the page for a selector. */
  function drawTours() {
    const own = METHODS.SCI5, textual = own.textual.filter((name) => name !== "V1");
    const only = { ...own, textual, tau1: 1 + textual.length / 2 };
    const link = (words, { rule, textual, visual, tau1, tau2, beta }, more = "") => {
      const rounds = [...textual, ...visual].join(".");
      const parts = { rule, rounds, tau1, tau2, beta };
      const hash = Object.entries(parts).map(([key, value]) => `${key}=${value}`).join("&");
      return `<button type="button" data-tour="${hash}&kept=${written(own)}${more}">${words}</button>`;
    };
    at("tours").innerHTML = "Try: " + [
      link("untick V1", only), link("β to 0.8", { ...own, beta: 0.8 }),
      link("a question that SCI breaks", own, "&show=spoilt"),
    ].join(" ");
  }

  function drawControls() {
    const name = methodName(state.method), { method } = state;
    for (const button of host.querySelectorAll("[data-method]"))
      button.setAttribute("aria-pressed", button.dataset.method === name);
    for (const [key, [least, most]] of Object.entries(SLIDERS)) {
      const slider = host.querySelector(`[data-slider="${key}"]`);
      const off = !RULES[method.rule].constants.includes(key);
      slider.disabled = off;
      const share = Math.log(method[key] / least) / Math.log(most / least);
      slider.value = Math.round(STEPS * Math.max(0, share));  // β may be 0
      slider.setAttribute("aria-valuetext", String(method[key]));
      at(key).textContent = off ? "not used" : method[key];
    }
    at("model").value = state.model;
    const choices = ["", ...OUTCOMES, ...(state.kept ? [DIFFERS] : [])];
    at("wanted").innerHTML = choices.map(
      (each) => `<option value="${each}">${each || "any"}</option>`).join("");
    at("wanted").value = state.wanted;
    at("all-tokens").checked = state.allTokens;
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
    drawComparison();
    history.replaceState(null, "", address());
  }

  /* A drag asks for many drawings; a frame makes one. */
  function soon() {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(draw);
  }

  /* A question of those that the filter leaves; without one the filter goes. */
  function settle() {
    if (!asked().length) state.wanted = "";
    if (!asked().some((each) => each.row === state.row)) {
      state.row = asked()[0].row;
      state.step = 0;
    }
  }

  async function show() {
    if (!models[state.model]) {
      at("status").textContent = "Reading the recorded logits …";
      await load(state.model);
      at("status").textContent = "";
    }
    settle();
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

  /* The address to the clipboard; where a browser forbids it, in sight. */
  async function copy() {
    const done = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
    at("status").textContent = done ? "The link is copied." : location.href;
  }

  function listen() {
    host.addEventListener("click", ({ target }) => {
      const { method, step, move: by, question: row, do: what, tour } = target.dataset;
      if (tour) location.hash = tour;
      if (row) { state.wanted = ""; state.row = +row; state.step = 0; draw(); }
      if (what === "keep") { state.kept = state.method; draw(); }
      if (what === "drop") { state.kept = null; settle(); draw(); }
      if (what === "copy") copy();
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
      if (part === "all-tokens") { state.allTokens = target.checked; draw(); }
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
      drawTours();
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
         methods: METHODS, rules: RULES, controls: CONTROLS, costs: COSTS, imageTokens } = content);
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
