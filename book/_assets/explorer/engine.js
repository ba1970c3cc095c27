/* The equations of SCI and of its baselines on recorded logits, and what they answer.

   This is `sci_book/results/replay.py` over again, in the same single precision: of every recorded
   prefix (a node) some tokens were kept, and one more column stands for all the others; if that
   column loses, and no rounding of the logits could make another win, the winner is certain. A row
   whose winner is not certain, or whose answer was never recorded, is not settled: it counts as
   wrong in `low` and as right in `high`.

   A control takes no equation, but answers that were recorded (`sci_book/results/controls.py`).

   Which equation a method's rule has, and which rounds decide what is plausible, the page exports
   from `sci_core.methods.RULES`; a rule without an equation here is an error,
   and so is a control without a function. */
"use strict";

const SciEngine = (() => {
  const f32 = Math.fround;
  const RIGHT = -1, UNSETTLED = -3;      // of `lead`: sci_book/papers/sci/explorer/data.py
  const ROUNDING = 1e-4;                 // a bound this close to the winner proves nothing
  let rules = {};                        // by name, rows of `sci_core.methods.RULES`
  /* The score of a token, by the name of the equation's function in `sci_core/logits.py`.

     `at`: the token's original logit, its tc (divided by tau1) and vc; its mean logit in all rounds
     but the original (`dummy`); `clock` gives the t of its place. */
  const EQUATIONS = {
    tie_logits: (at) => at.vc,
    vcd_logits: (at, { alpha }) =>
      f32((1 + alpha) * at.original) - f32(alpha * at.dummy),
    m3id_logits: (at, method, { decay }) =>
      at.original + f32(f32(Math.expm1(f32(f32(decay) * at.clock(at.place)))) * at.vc),
    sci_logits: (at, { tau2 }) => at.tc + f32(at.vc / f32(tau2)),
    mean_logits: (at, { tau2 }) => at.tc + f32(at.vc / f32(tau2)),
  };
  const SUBSETS = {
    "B": (set) => set & 2,
    "S": (set) => set & 4,
    "S∖B": (set) => set & 4 && !(set & 2),
    "BS": (set) => set & 6,
    "all rows": () => true,
  };

  /* The arrays of a model's script, decoded; `columns` and `bounds` are views of a round each. */
  function decode(model) {
    const bytes = (text) => {
      if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text).buffer;
      const letters = atob(text), found = new Uint8Array(letters.length);
      for (let at = 0; at < letters.length; at++) found[at] = letters.charCodeAt(at);
      return found.buffer;
    };
    const types = {
      root: Int32Array, start: Int32Array, logits: Float32Array, others: Float32Array,
      lead: Int32Array, clock: Int32Array, depth: Uint8Array, sets: Uint8Array,
      reads: Int32Array, truth: Int32Array, said: Int32Array,
    };
    const arrays = {};
    for (const [name, type] of Object.entries(types)) arrays[name] = new type(bytes(model[name]));
    const nodes = arrays.start.length - 1, kept = arrays.lead.length;
    const clocks = arrays.clock.map((clock, node) => clock + arrays.depth[node]);
    const owners = new Int32Array(kept);
    for (let node = 0; node < nodes; node++)
      owners.fill(node, arrays.start[node], arrays.start[node + 1]);
    const round = (all, size) =>
      model.rounds.map((_, at) => all.subarray(at * size, (at + 1) * size));
    return {
      ...model, ...arrays, nodes, clocks, owners,
      columns: round(arrays.logits, kept), bounds: round(arrays.others, nodes),
      said: round(arrays.said, arrays.root.length),
    };
  }

  /* The row of a method's rule. */
  function ruleOf(method) {
    const rule = Object.hasOwn(rules, method.rule) && rules[method.rule];
    if (!rule) throw new Error(
      `The rule "${method.rule}" is unknown to this page, which knows ` +
      `${Object.keys(rules).join(", ")}. Build the book anew.`);
    if (rule.equation !== null && !EQUATIONS[rule.equation]) throw new Error(
      `The equation "${rule.equation}" of the rule "${method.rule}" is not in engine.js, which has ` +
      `${Object.keys(EQUATIONS).join(", ")}. Add it there.`);
    return rule;
  }

  /* The element-wise maximum over the original and some rounds, divided by a temperature. */
  function highest(original, rounds, temperature) {
    const best = Float32Array.from(original), size = best.length;
    for (const logits of rounds)
      for (let at = 0; at < size; at++) if (logits[at] > best[at]) best[at] = logits[at];
    for (let at = 0; at < size; at++) best[at] /= temperature;
    return best;
  }

  /* The element-wise mean over some rounds, 0 over none. */
  function mean(rounds, size) {
    const sums = new Float32Array(size);
    for (const logits of rounds) for (let at = 0; at < size; at++) sums[at] += logits[at];
    if (rounds.length) for (let at = 0; at < size; at++) sums[at] /= rounds.length;
    return sums;
  }

  /* A method's TC / tau1, VC and score of some tokens, and what decides whether they are plausible.

     `columns`: their logits, an array a round. `clock`: of a token's place, M3ID's t. */
  function combine(model, method, columns, clock) {
    const rule = ruleOf(method), equation = EQUATIONS[rule.equation];
    const place = (name) => columns[model.rounds.indexOf(name)];
    const textual = method.textual.map(place), visual = method.visual.map(place);
    const [original] = columns, size = original.length, tau1 = f32(method.tau1);
    const vc = new Float32Array(size), tc = rule.tc === "mean"
      ? mean([original, ...textual], size).map((z) => z / tau1) : highest(original, textual, tau1);
    const deciding = rule.decides === "textual" ? tc : highest(original, [], tau1);
    const dummies = mean(visual, size);
    if (visual.length) for (let at = 0; at < size; at++) vc[at] = original[at] - dummies[at];
    if (!equation) return { tc, vc, deciding, score: original };
    const score = new Float32Array(size);
    const others = mean([...textual, ...visual], size);
    const token = { place: 0, original: 0, tc: 0, vc: 0, dummy: 0, clock };
    for (let at = 0; at < size; at++) {
      token.place = at;
      token.original = original[at];
      token.tc = tc[at];
      token.vc = vc[at];
      token.dummy = others[at];
      score[at] = equation(token, method, rule.given);
    }
    return { tc, vc, deciding, score };
  }

  /* One node scored: its kept tokens' terms, the cutoff, and who wins. */
  function score(model, method, node) {
    const from = model.start[node], to = model.start[node + 1];
    const clock = () => model.clocks[node];
    const terms = combine(model, method, model.columns.map((z) => z.subarray(from, to)), clock);
    const others =
      combine(model, method, model.bounds.map((z) => z.subarray(node, node + 1)), clock);
    const chosen = choose(method, terms, 0, to - from, others, 0);
    chosen.proven &&= stands(model, method, node, chosen, slackOf(model, method));
    return { ...terms, ...chosen };
  }

  /* The first of the best kept tokens that survive, and whether it surely beats all others. */
  function choose(method, { deciding, score }, from, to, others, at) {
    const { equation, decides } = ruleOf(method);
    let best = others.deciding[at], slot = -1;
    for (let token = from; token < to; token++) if (deciding[token] > best) best = deciding[token];
    const cutoff = equation === null ? -Infinity : f32(best - f32(-Math.log(method.beta)));
    for (let token = from; token < to; token++)
      if (deciding[token] >= cutoff && (slot < 0 || score[token] > score[slot])) slot = token;
    if (slot < 0) return { cutoff, slot: 0, proven: false };
    // The least distance of a token from the cutoff, and of a plausible rival's score.
    let edge = Math.abs(others.deciding[at] - cutoff);
    let gap = others.deciding[at] < cutoff ? Infinity : score[slot] - others.score[at];
    for (let token = from; token < to; token++) {
      edge = Math.min(edge, Math.abs(deciding[token] - cutoff));
      if (token !== slot && deciding[token] >= cutoff) gap = Math.min(gap, score[slot] - score[token]);
    }
    // The logits of a textual round that does not decide are bounded from one side alone.
    const bounded = decides === "textual" || !method.textual.length;
    const proven = others.deciding[at] < cutoff
      || bounded && others.score[at] < f32(score[slot] - ROUNDING);
    return { cutoff, slot: slot - from, proven, edge, gap };
  }

  /* Distances from which on no rounding of the logits moves a token across the cutoff (`edge`), or
     past another (`gap`), twice what it could: every equation is linear but for maxima, so by a logit
     of each round it moves by no more than by one that stands alone. */
  function slackOf(model, method) {
    const error = (model.step || 0) / 2;
    if (!error) return { error };
    const latest = () => model.clocks.reduce((most, clock) => Math.max(most, clock), 0);
    const scored = (raised) => combine(
      model, method, model.rounds.map((_, at) => Float32Array.of(at === raised ? 1 : 0)), latest,
    ).score[0];
    const slope = model.rounds.reduce((sum, _, at) => sum + Math.abs(scored(at) - scored(-1)), 0);
    return { error, edge: 4 * error / method.tau1, gap: 4 * error * slope };
  }

  /* Whether a node's winner would win with any logits that differ by half a step: `_stands` of
     replay.py, where the winner is not so far ahead that it must. */
  function stands(model, method, node, { slot, edge, gap }, slack) {
    if (!slack.error || edge >= slack.edge && gap >= slack.gap) return true;
    const from = model.start[node], size = model.start[node + 1] - from;
    const columns = model.columns.map((z, at) =>
      Float32Array.of(...z.subarray(from, from + size), model.bounds[at][node]));
    const clock = () => model.clocks[node];
    const scored = (raised) => combine(model, method, columns.map((z, at) =>
      at === raised ? z.map((logit) => logit + slack.error) : z), clock).score;
    const score = scored(-1), moved = new Float32Array(size + 1);
    for (const name of ["original", ...method.textual, ...method.visual])
      scored(model.rounds.indexOf(name)).forEach(
        (other, at) => { moved[at] += Math.abs(other - score[at]); });
    // Undivided, so that a distance of whole steps is one.
    const { deciding } = combine(model, { ...method, tau1: 1 }, columns, clock);
    const below = (logit) => f32(logit - f32(-method.tau1 * Math.log(method.beta)));
    const others = [...deciding.keys()].filter((at) => at !== slot), sway = 2 * slack.error;
    const least = below(Math.max(...deciding)) - sway;
    const kept = others.every((at) => deciding[slot] >= below(deciding[at]) + sway);
    return kept && others.every((at) =>
      deciding[at] < least || score[at] + moved[at] < score[slot] - moved[slot]);
  }

  /* The nodes that a method passes through on one row, and where it ends: a code of `lead`. */
  function path(model, method, row) {
    const steps = [];
    let node = model.root[row], end = UNSETTLED, sure = true;
    while (node >= 0) {
      const { slot, proven } = score(model, method, node);
      steps.push({ node, slot });
      sure = sure && proven;
      end = node = model.lead[model.start[node] + slot];
    }
    return { steps, end: sure ? end : UNSETTLED };
  }

  /* What a control answers on a row, by its rule: a place in `answers`, 0 for no answer. */
  const CONTROLS = {
    /* The original's likeliest first token that is not its best and reads as another answer. */
    second(model, _, row) {
      const node = model.root[row], from = model.start[node];
      if (node < 0) return 0;
      const original = model.columns[0].subarray(from, model.start[node + 1]);
      const [, ...others] = [...original.keys()].sort((a, b) => original[b] - original[a]);
      const read = others.map((slot) => model.reads[from + slot]);
      return read.find((answer) => answer && answer !== model.said[0][row]) || 0;
    },
    /* What most of the rounds answer; the original's where several are said as often. */
    vote(model, { textual }, row) {
      const rounds = ["original", ...textual].map((name) => model.said[model.rounds.indexOf(name)]);
      const votes = new Map();
      for (const { [row]: answer } of rounds)
        if (answer) votes.set(answer, (votes.get(answer) || 0) + 1);
      const most = Math.max(...votes.values());
      const winners = [...votes.keys()].filter((answer) => votes.get(answer) === most);
      return winners.length === 1 ? winners[0] : model.said[0][row];
    },
  };

  /* The function of a control's rule. */
  function controlOf({ rule }) {
    if (!Object.hasOwn(CONTROLS, rule)) throw new Error(
      `The control "${rule}" is not in engine.js, which has ` +
      `${Object.keys(CONTROLS).join(", ")}. Add it there.`);
    return CONTROLS[rule];
  }

  /* What a control answers on a row, in words, and whether that is right. */
  function answer(model, control, row) {
    const place = controlOf(control)(model, control, row);
    return { said: model.answers[place], right: place !== 0 && place === model.truth[row] };
  }

  /* A control's accuracy by subset, in percent: {n, low, high}. */
  function accuracyOf(model, control) {
    return counted(model, (row) => {
      const { right } = answer(model, control, row);
      return [right, right];
    });
  }

  /* Accuracy by subset, in percent: {n, low, high}. */
  function accuracy(model, method) {
    const { start, lead, clocks, owners } = model;
    const terms = combine(model, method, model.columns, (at) => clocks[owners[at]]);
    const others = combine(model, method, model.bounds, (node) => clocks[node]);
    const next = new Int32Array(model.nodes), sure = new Uint8Array(model.nodes);
    const slack = slackOf(model, method);
    for (let node = 0; node < model.nodes; node++) {
      const found = choose(method, terms, start[node], start[node + 1], others, node);
      next[node] = lead[start[node] + found.slot];
      sure[node] = found.proven && stands(model, method, node, found, slack);
    }
    return counted(model, (row) => {
      let node = model.root[row], end = node, proven = 1;
      while (end >= 0) { proven &= sure[end]; end = next[end]; }
      const settled = proven && end !== UNSETTLED;
      return [settled && end === RIGHT, !settled || end === RIGHT];
    });
  }

  /* By subset, the shares of rows that are surely right and that may be, as `right` says of each. */
  function counted(model, right) {
    const counts = Object.keys(SUBSETS).map(() => ({ n: 0, low: 0, high: 0 }));
    const members = Object.values(SUBSETS);
    for (let row = 0; row < model.root.length; row++) {
      const set = model.sets[row];
      if (!(set & 1)) continue;
      const [surely, perhaps] = right(row);
      members.forEach((member, at) => {
        if (!member(set)) return;
        counts[at].n += 1;
        counts[at].low += surely;
        counts[at].high += perhaps;
      });
    }
    const percent = ({ n, low, high }) => ({ n, low: 100 * low / n, high: 100 * high / n });
    return Object.fromEntries(Object.keys(SUBSETS).map((name, at) => [name, percent(counts[at])]));
  }

  /* A number at a fixed precision, a half away from zero: as `tables.number` writes it. */
  function fixed(value, decimals) {
    const scaled = Number((Math.abs(value) * 10 ** decimals).toFixed(6));
    const text = (Math.round(scaled) / 10 ** decimals).toFixed(decimals);
    return value < 0 && Number(text) ? `−${text}` : text;
  }

  return { rules: (rows) => { rules = rows; }, ruleOf, decode, score, path, accuracy,
           controlOf, answer, accuracyOf, fixed, SUBSETS, RIGHT, UNSETTLED };
})();
