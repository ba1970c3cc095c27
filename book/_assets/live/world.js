/* Scenes of the pocket world drawn in the page, to the last value as `sci_book/pocket/draw.py` and
   `sprites.py` draw them: the same whole numbers in the same order.

   `given` is what `sci_book/papers/sci/live/world.py` writes: renderings of places, and the strokes
   of things on sheets four times as large. All chance is numpy's PCG64, of a scene's seed. */
"use strict";

class LiveWorld {
  static SIDE = 96;
  static CELL = 32;
  static OVERSAMPLE = 4;
  static SIZES = [21, 24, 27, 30];
  static SIGN_SIZES = [28, 30];
  static VARIANTS = 6;
  static MARGIN = 5;
  static HALO = 13;
  static LIGHTS = ["clear", "dusk", "fog", "grain"];
  static GAIN = { clear: [234, 234, 234], dusk: [92, 100, 138], fog: [112, 112, 110],
                  grain: [216, 216, 216] };
  static LIFT = { clear: [16, 16, 16], dusk: [8, 10, 22], fog: [116, 119, 122], grain: [12, 12, 12] };
  static NOISE = { clear: 12, dusk: 20, fog: 10, grain: 120 };
  static NOISE_SIDE = 192;

  constructor(given) {
    this.given = given;
    this.sprites = new Map();
    this.noises = new Map();
    this.places = new Map(Object.entries(given.places).flatMap(([place, variants]) =>
      Object.entries(variants).map(([variant, text]) => [`${place} ${variant}`, this.bytes(text)])));
  }

  bytes(text) {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  }

  /* --- numpy's PCG64, seeded by a whole number --------------------------------------------- */

  static words(seed) { // SeedSequence(seed).generate_state(8)
    const pool = [];
    let constant = 0x43b0d7e5;
    const mixed = (value) => {
      value ^= constant;
      constant = Math.imul(constant, 0x931e8875);
      value = Math.imul(value, constant);
      return value ^ value >>> 16;
    };
    for (let i = 0; i < 4; i++) pool.push(mixed(i ? 0 : seed | 0));
    for (let from = 0; from < 4; from++)
      for (let to = 0; to < 4; to++) {
        if (from === to) continue;
        const both = Math.imul(0xca01f9dd, pool[to]) - Math.imul(0x4973f715, mixed(pool[from])) | 0;
        pool[to] = both ^ both >>> 16;
      }
    constant = 0x8b51f9dd;
    return Array.from({ length: 8 }, (_, i) => {
      let value = pool[i % 4] ^ constant;
      constant = Math.imul(constant, 0x58f38ded);
      value = Math.imul(value, constant);
      return BigInt((value ^ value >>> 16) >>> 0);
    });
  }

  /* A function that draws whole numbers from `low` to below `high`. */
  static lot(seed) {
    const MASK = (1n << 128n) - 1n, TIMES = 0x2360ed051fc65da44385df649fccf645n;
    const w = LiveWorld.words(seed), long = (i) => w[i] | w[i + 1] << 32n;
    const step = () => { state = state * TIMES + odd & MASK; };
    const odd = (long(4) << 64n | long(6)) << 1n & MASK | 1n;
    let state = 0n, kept = -1;
    step();
    state = state + (long(0) << 64n | long(2)) & MASK;
    step();
    const next = () => {
      if (kept >= 0) {
        const value = kept;
        kept = -1;
        return value;
      }
      step();
      const both = BigInt.asUintN(64, state >> 64n ^ state), turn = state >> 122n;
      const drawn = BigInt.asUintN(64, both >> turn | both << 64n - turn);
      kept = Number(drawn >> 32n);
      return Number(drawn & 0xffffffffn);
    };
    return (low, high) => { // Lemire's
      const range = high - low, least = (2 ** 32 - range) % range;
      let product = next() * range;
      while (product % 2 ** 32 < least) product = next() * range;
      return low + Math.floor(product / 2 ** 32);
    };
  }

  /* The scene's random numbers, [10][8]: a row for each cell, the last for the whole picture. */
  static chance(seed) {
    const draw = LiveWorld.lot(seed);
    return Array.from({ length: 10 }, () => Array.from({ length: 8 }, () => draw(0, 1 << 16)));
  }

  /* A light's field of bell-shaped noise, [NOISE_SIDE, NOISE_SIDE, 3]. */
  noise(light) {
    if (this.noises.has(light)) return this.noises.get(light);
    const draw = LiveWorld.lot(LiveWorld.LIGHTS.indexOf(light));
    const field = new Int32Array(LiveWorld.NOISE_SIDE ** 2 * 3);
    for (let dice = 0; dice < 4; dice++)
      for (let at = 0; at < field.length; at++) field[at] += draw(-4, 5);
    for (let at = 0; at < field.length; at++)
      field[at] = Math.floor(field[at] * LiveWorld.NOISE[light] / 16);
    this.noises.set(light, field);
    return field;
  }

  /* --- one thing --------------------------------------------------------------------------- */

  /* Its strokes, an index of colours a pixel, 0 for none: [size · OVERSAMPLE]². */
  strokes(name, size) {
    const side = size * LiveWorld.OVERSAMPLE, sheet = new Uint8Array(side * side);
    const runs = this.bytes(this.given.sheets[name][size].runs);
    let at = 0;
    for (let i = 0; i < runs.length; i += 2) {
      sheet.fill(runs[i], at, at + runs[i + 1]);
      at += runs[i + 1];
    }
    return sheet;
  }

  /* Fixed fine texture, single pixels and blotches of 2 x 2. */
  static rough(side, variant) {
    const draw = LiveWorld.lot(1000 * side + variant), half = side + 1 >> 1;
    const fine = Array.from({ length: side * side }, () => draw(-13, 14));
    const blotch = Array.from({ length: half * half }, () => draw(-10, 11));
    return fine.map((value, at) =>
      value + blotch[(at / side >> 1) * half + (at % side >> 1)]);
  }

  /* A box blur of radius 4 along one axis, rounded as Pillow's. */
  static blurred(values, side, along, across) {
    const out = new Uint8Array(values.length);
    for (let line = 0; line < side; line++)
      for (let place = 4; place < side - 4; place++) {
        let sum = 0;
        for (let by = -4; by <= 4; by++) sum += values[line * across + (place + by) * along];
        out[line * across + place * along] = Math.floor((sum * 1864135 + 2 ** 23) / 2 ** 24);
      }
    return out;
  }

  /* What to lay over a picture: v becomes (v · keep + paint) >> 8. */
  sprite({ kind, colour, on, text }, size, variant) {
    const key = [kind, colour, on, text, size, variant].join();
    if (this.sprites.has(key)) return this.sprites.get(key);
    const F = LiveWorld.OVERSAMPLE, glowing = kind === "lamp" && on;
    const margin = glowing ? LiveWorld.HALO : LiveWorld.MARGIN;
    const name = kind === "sign" ? `sign ${text}` : glowing ? "lit lamp" : kind;
    const inner = size * F, side = size + 2 * margin, wide = side * F, room = margin * F;
    const strokes = this.strokes(name, size), body = new Uint8Array(wide * wide);
    const edge = new Uint8Array(wide * wide); // 255 where the thing or its outline is
    for (let y = 0; y < inner; y++)
      for (let x = 0; x < inner; x++) {
        const turned = variant % 2 && kind !== "sign" ? inner - 1 - x : x;
        const ink = strokes[y * inner + turned];
        if (!ink) continue;
        const at = (y + room) * wide + x + room;
        body[at] = ink;
        for (let dy = -2; dy <= 2; dy++)
          edge.fill(255, at + dy * wide - 2, at + dy * wide + 3);
      }
    const palette = this.given.sheets[name][size].palette[kind === "sign" ? "white" : colour];
    const paints = [this.given.outlines[colour], ...palette];
    const shadow = glowing ? null : this.shadow(edge, wide);
    const rough = LiveWorld.rough(side, variant);
    const paint = new Int32Array(side * side * 3), keep = new Int32Array(side * side);
    const behind = glowing ? [255, 236, 176] : [24, 24, 34];
    const reach = (2 * LiveWorld.HALO + (3 * size >> 2)) ** 2;
    for (let row = 0; row < side; row++)
      for (let column = 0; column < side; column++) {
        const sums = [0, 0, 0];
        let covered = 0, dark = 0;
        for (let dy = 0; dy < F; dy++)
          for (let dx = 0; dx < F; dx++) {
            const at = (row * F + dy) * wide + column * F + dx;
            if (shadow) dark += shadow[at];
            if (!edge[at]) continue;
            covered++;
            for (let c = 0; c < 3; c++) sums[c] += paints[body[at]][c];
          }
        const place = row * side + column, y = row - margin, x = column - margin;
        const opacity = 255 * covered + 8 >> 4, alpha = opacity + (opacity >> 7);
        const away = 4 * (x - (size >> 1)) ** 2 + 4 * (y - Math.floor(size / 3)) ** 2;
        const glow = Math.min(150, Math.max(0, Math.floor(150 * (reach - away) / reach)));
        const under = (glowing ? glow : (dark + 8 >> 4) * 88 >> 8) * (256 - alpha) >> 8;
        const shade = 26 - Math.floor((44 * y + 20 * x) / size) + 12 * ((variant >> 1) - 1);
        keep[place] = 256 - alpha - under;
        for (let c = 0; c < 3; c++) {
          const mean = sums[c] + 8 >> 4;
          const small = opacity && opacity < 255
            ? Math.min(255, Math.floor(255 * mean / opacity)) : mean;
          const lit = (small * (256 + shade) >> 8) + rough[place];
          paint[place * 3 + c] = Math.min(255, Math.max(0, lit)) * alpha + behind[c] * under;
        }
      }
    const made = { paint, keep, side, margin };
    this.sprites.set(key, made);
    return made;
  }

  /* An outline's soft shadow, to the lower right. */
  shadow(edge, wide) {
    const F = LiveWorld.OVERSAMPLE, [right, down] = [F * 3 >> 1, 2 * F];
    let soft = new Uint8Array(edge.length);
    soft.set(edge.subarray(0, edge.length - down * wide - right), down * wide + right);
    for (let twice = 0; twice < 2; twice++)
      soft = LiveWorld.blurred(LiveWorld.blurred(soft, wide, 1, wide), wide, wide, 1);
    return soft;
  }

  /* --- a picture --------------------------------------------------------------------------- */

  /* RGB bytes of a scene: { place, light, seed, things: [{ kind, colour, cell, on, text }] }. */
  draw({ place, light, seed, things }) {
    const { SIDE, CELL } = LiveWorld, chance = LiveWorld.chance(seed);
    const [variant, flip, y, x, warm, bright, dy, dx] = chance[9];
    const ground = this.places.get(`${place} ${variant % 8}`), wide = this.given.side;
    const room = wide - SIDE + 1, canvas = new Int32Array(SIDE * SIDE * 3);
    for (let row = 0; row < SIDE; row++)
      for (let column = 0; column < SIDE; column++) {
        const seen = flip % 2 ? SIDE - 1 - column : column;
        const from = ((y % room + row) * wide + x % room + seen) * 3;
        for (let c = 0; c < 3; c++) canvas[(row * SIDE + column) * 3 + c] = ground[from + c];
      }
    for (const thing of [...things].sort((a, b) => a.cell - b.cell)) {
      const [pick, tone, down, right] = chance[thing.cell];
      const sizes = thing.kind === "sign" ? LiveWorld.SIGN_SIZES : LiveWorld.SIZES;
      const size = sizes[pick % sizes.length], free = CELL - size + 1;
      const { paint, keep, side, margin } = this.sprite(thing, size, tone % LiveWorld.VARIANTS);
      const top = (thing.cell / 3 | 0) * CELL + down % free - margin;
      const left = thing.cell % 3 * CELL + right % free - margin;
      for (let row = Math.max(0, -top); row < Math.min(side, SIDE - top); row++)
        for (let column = Math.max(0, -left); column < Math.min(side, SIDE - left); column++)
          for (let c = 0, at = row * side + column; c < 3; c++) {
            const to = ((top + row) * SIDE + left + column) * 3 + c;
            canvas[to] = canvas[to] * keep[at] + paint[at * 3 + c] >> 8;
          }
    }
    const tint = warm % 17 - 8, glow = bright % 21 - 10, cast = [tint + glow, glow, glow - tint];
    const noise = this.noise(light), field = LiveWorld.NOISE_SIDE, spare = field - SIDE;
    return Uint8Array.from(canvas, (value, at) => {
      const c = at % 3, column = (at / 3 | 0) % SIDE, row = at / 3 / SIDE | 0;
      const grain = noise[((dy % spare + row) * field + dx % spare + column) * 3 + c];
      const lit = (value * (LiveWorld.GAIN[light][c] + cast[c]) >> 8) + LiveWorld.LIFT[light][c];
      return Math.min(255, Math.max(0, lit + grain));
    });
  }
}
