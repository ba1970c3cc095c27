/* A question in all rounds of a method, decoded as `sci_core.generate` does, step by step.

   The equations are the explorer's (`explorer/engine.js`). What rounds begin with alike is read once;
   a picture that was seen is kept, and black, which all pictures share, for good. */
"use strict";

class LiveRounds {
  static KEPT = 6; // pictures

  /* `model` is of `LiveModel`; `setup` what `sci_book/papers/sci/live/page.py` writes of rounds. */
  constructor(model, setup) {
    this.model = model;
    this.setup = setup;
    this.pictures = [];
    this.heads = new Map();
    SciEngine.rules(setup.rules);
  }

  /* The text of each token by its id; of a special one there is none. */
  pieces() {
    const { tokenizer } = this.model;
    return tokenizer.vocabulary.map((_, id) => tokenizer.decode([id]));
  }

  /* A prompt in a round's words: by its instruction if it has one, else by the rule `prefix`. */
  reworded(prompt, name) {
    const { rewrites, fronts, prefixes } = this.setup;
    const script = /[\u4e00-\u9fff]/.test(prompt) ? "chinese" : "latin";
    if (fronts[name]) return fronts[name][script] + prompt;
    const found = this.setup.instructions.filter((instruction) => prompt.includes(instruction));
    if (found.length > 1 || found.length && prompt.split(found[0]).length > 2) throw new Error(
      `The prompt holds several instructions that the paper rewords (${found.join(" ")}); one is ` +
      "expected. Take the others out.");
    const [one] = found;
    return one ? prompt.replace(one, () => rewrites[name][one]) : prefixes[name][script] + prompt;
  }

  /* RGB bytes of what a visual round shows; null where it shows none. */
  shown(rgb, name) {
    if (name === "black") return new Uint8Array(rgb.length);
    const step = /^noise(\d+)$/.exec(name)?.[1];
    return step ? this.kept(rgb, `noise${step}`, () =>
      LiveNoise.noisy(rgb, this.model.given.side, +step, this.setup.alphaBars[name])) : null;
  }

  /* What was once made of a picture, or is made now. */
  kept(rgb, name, make) {
    const same = (entry) => entry.rgb.every((value, i) => value === rgb[i]);
    let entry = this.pictures.find(same);
    if (!entry) this.pictures.unshift(entry = { rgb, made: {} });
    else this.pictures.unshift(...this.pictures.splice(this.pictures.indexOf(entry), 1));
    this.pictures.splice(LiveRounds.KEPT);
    return entry.made[name] ??= make();
  }

  /* The state after a chat turn's beginning and its picture, or the words in a picture's place. */
  head(rgb, name) {
    const { model, setup: { turn, words } } = this;
    const read = (ids, picture) => model.read(null, [...turn.before, ...ids, ...turn.between], picture);
    const ofPicture = (bytes) => {
      const picture = model.see(bytes);
      return read(Array(picture.width ** 2).fill(model.given.imageToken), picture);
    };
    if (name === "original") return this.kept(rgb, "head", () => ofPicture(rgb));
    if (name.startsWith("noise"))
      return this.kept(rgb, `head of ${name}`, () => ofPicture(this.shown(rgb, name)));
    if (!this.heads.has(name))
      this.heads.set(name, name === "black" ? ofPicture(this.shown(rgb, name)) : read(words[name], null));
    return this.heads.get(name);
  }

  /* The states of prompts behind one head; what they begin with alike is read once. */
  behind(head, prompts) {
    const all = prompts.map(
      (prompt) => [...this.model.tokenizer.encode(prompt), ...this.setup.turn.after]);
    const least = Math.min(...all.map((ids) => ids.length)) - 1;
    let n = 0;
    while (n < least && all.every((ids) => ids[n] === all[0][n])) n++;
    const shared = n ? this.model.read(head, all[0].slice(0, n)) : head;
    return all.map((ids) => this.model.read(shared, ids.slice(n)));
  }

  /* What a round says by itself: greedy, from a state on. */
  alone(state, most) {
    const tokens = [];
    while (tokens.length < most) {
      const token = state.logits.reduce((best, z, id, all) => z > all[best] ? id : best, 0);
      if (this.model.given.ends.includes(token)) break;
      tokens.push(token);
      if (tokens.length < most) state = this.model.read(state, [token]);
    }
    return this.model.tokenizer.decode(tokens);
  }

  /* A method's answer to a prompt on a picture: its rounds, its steps, its tokens.

     A round has its name, prompt, picture and own answer; a step every round's logits and what the
     method makes of them. `own`: whether to ask what each round says by itself. */
  answer(rgb, prompt, method, { most = this.setup.most, own = true } = {}) {
    const textual = ["original", ...method.textual];
    const prompts = [prompt, ...method.textual.map((name) => this.reworded(prompt, name))];
    let states = [
      ...this.behind(this.head(rgb, "original"), prompts),
      ...method.visual.flatMap((name) => this.behind(this.head(rgb, name), [prompt])),
    ];
    const names = [...textual, ...method.visual];
    const { turn } = this.setup, { tokenizer } = this.model;
    // Of the chat turn without its picture, which M3ID counts.
    const clock = [turn.before, turn.between, tokenizer.encode(prompt), turn.after].flat().length;
    const rounds = names.map((name, at) => ({
      name,
      prompt: prompts[at] ?? prompt,
      picture: at < textual.length ? rgb : this.shown(rgb, name),
      answer: own ? this.alone(states[at], most) : "",
    }));
    const tokens = [], steps = [];
    while (tokens.length < most) {
      const logits = states.map((state) => state.logits);
      const step = this.step(names, logits, method, clock + tokens.length);
      steps.push({ logits, ...step });
      if (this.model.given.ends.includes(step.slot)) break;
      tokens.push(step.slot);
      if (tokens.length < most) states = states.map((state) => this.model.read(state, [step.slot]));
    }
    return { rounds, steps, tokens, text: tokenizer.decode(tokens) };
  }

  /* One step as the explorer scores it: a node of which all tokens were kept. */
  step(rounds, columns, method, clock) {
    const nothing = Float32Array.of(-Infinity);
    const node = { rounds, columns, bounds: rounds.map(() => nothing),
                   start: [0, columns[0].length], clocks: [clock] };
    return SciEngine.score(node, method, 0);
  }
}
