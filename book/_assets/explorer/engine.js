/* The equations of SCI and of its baselines on recorded logits, and what they answer.

   This is `sci_book/results/replay.py` over again, in the same single precision: of every recorded
   prefix (a node) some tokens were kept, and one more column stands for all the others; if that
   column loses, the winner is certain. A row whose winner is not certain, or whose answer was never
   recorded, is not settled: it counts as wrong in `low` and as right in `high`. */
"use strict";

const SciEngine = (() => {
  const f32 = Math.fround;
  const RIGHT = -1, UNSETTLED = -3;      // of `lead`: sci_book/papers/sci/explorer/data.py
  const ROUNDING = 1e-4;                 // a bound this close to the winner proves nothing
  const M3ID_DECAY = f32(0.02);
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
    };
  }

  /* A method's TC / tau1, VC and score of some tokens, before the constraint.

     `columns`: their logits, an array a round. `clock`: of a token's place, M3ID's t. */
  function combine(model, method, columns, clock) {
    const place = (name) => columns[model.rounds.indexOf(name)];
    const textual = method.textual.map(place), visual = method.visual.map(place);
    const [original] = columns, size = original.length;
    const tc = Float32Array.from(original), vc = new Float32Array(size);
    const score = new Float32Array(size);
    const { rule } = method, tau1 = f32(method.tau1), tau2 = f32(method.tau2);
    for (const logits of textual)
      for (let at = 0; at < size; at++) if (logits[at] > tc[at]) tc[at] = logits[at];
    for (const logits of visual) for (let at = 0; at < size; at++) vc[at] += logits[at];
    if (visual.length)
      for (let at = 0; at < size; at++) vc[at] = original[at] - f32(vc[at] / visual.length);
    for (let at = 0; at < size; at++) {
      tc[at] /= tau1;
      score[at] =
        rule === "base" ? original[at]
        : rule === "tie" ? vc[at]
        : rule === "vcd" ? f32(2 * original[at]) - visual[0][at]
        : rule === "m3id"
          ? original[at] + f32(f32(Math.expm1(f32(M3ID_DECAY * clock(at)))) * vc[at])
        : tc[at] + f32(vc[at] / tau2);
    }
    return { tc, vc, score };
  }

  /* One node scored: its kept tokens' terms, the cutoff, and who wins. */
  function score(model, method, node) {
    const from = model.start[node], to = model.start[node + 1];
    const clock = () => model.clocks[node];
    const terms = combine(model, method, model.columns.map((z) => z.subarray(from, to)), clock);
    const others =
      combine(model, method, model.bounds.map((z) => z.subarray(node, node + 1)), clock);
    return { ...terms, ...choose(method, terms, 0, to - from, others, 0) };
  }

  /* The first of the best kept tokens that survive, and whether it surely beats all others. */
  function choose(method, { tc, score }, from, to, others, at) {
    let best = others.tc[at], slot = -1;
    for (let token = from; token < to; token++) if (tc[token] > best) best = tc[token];
    const cutoff = method.rule === "base" ? -Infinity : f32(best - f32(-Math.log(method.beta)));
    for (let token = from; token < to; token++)
      if (tc[token] >= cutoff && (slot < 0 || score[token] > score[slot])) slot = token;
    if (slot < 0) return { cutoff, slot: 0, proven: false };
    const proven = others.tc[at] < cutoff || others.score[at] < f32(score[slot] - ROUNDING);
    return { cutoff, slot: slot - from, proven };
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

  /* Accuracy by subset, in percent: {n, low, high}. */
  function accuracy(model, method) {
    const { start, lead, clocks, owners } = model;
    const terms = combine(model, method, model.columns, (at) => clocks[owners[at]]);
    const others = combine(model, method, model.bounds, (node) => clocks[node]);
    const next = new Int32Array(model.nodes), sure = new Uint8Array(model.nodes);
    for (let node = 0; node < model.nodes; node++) {
      const found = choose(method, terms, start[node], start[node + 1], others, node);
      next[node] = lead[start[node] + found.slot];
      sure[node] = found.proven;
    }
    const counts = Object.keys(SUBSETS).map(() => ({ n: 0, low: 0, high: 0 }));
    const members = Object.values(SUBSETS);
    for (let row = 0; row < model.root.length; row++) {
      const set = model.sets[row];
      if (!(set & 1)) continue;
      let node = model.root[row], end = node, proven = 1;
      while (end >= 0) { proven &= sure[end]; end = next[end]; }
      const settled = proven && end !== UNSETTLED;
      members.forEach((member, at) => {
        if (!member(set)) return;
        counts[at].n += 1;
        counts[at].low += settled && end === RIGHT;
        counts[at].high += !settled || end === RIGHT;
      });
    }
    const percent = ({ n, low, high }) => ({ n, low: 100 * low / n, high: 100 * high / n });
    return Object.fromEntries(Object.keys(SUBSETS).map((name, at) => [name, percent(counts[at])]));
  }

  return { decode, score, path, accuracy, SUBSETS, RIGHT, UNSETTLED };
})();
