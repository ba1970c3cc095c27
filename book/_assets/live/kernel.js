/* Matrix products in WebAssembly's vectors of four floats, several times as fast as plain loops.

   The module is assembled here, byte by byte, so that no tool is needed and nothing is hidden:
   y[rows, outs] = x[rows, ins] · w[outs, ins]ᵀ + b, in blocks of four rows and two outs. `ins` and
   `rows` are multiples of 4, `outs` of 2; x, w, b and y are places in the one memory, in bytes. */
"use strict";

const LiveKernel = (() => {
  const ROWS = [0, 1, 2, 3], OUTS = [0, 1];
  const PAIRS = ROWS.flatMap((row) => OUTS.map((out) => [row, out]));
  const GIVEN = ["x", "rows", "w", "b", "y", "ins", "outs"];
  const WHOLE = ["xBytes", "yBytes", "row", "out", "end", "wBlock", "yBlock",
                 ...ROWS.map((row) => `x${row}`), ...OUTS.map((out) => `w${out}`)];
  const VECTORS = [...ROWS.map((row) => `vx${row}`), ...OUTS.map((out) => `vw${out}`),
                   ...PAIRS.map(([row, out]) => `sum${row}${out}`)];
  const LOCALS = [...GIVEN, ...WHOLE, ...VECTORS];
  const I32 = 0x7f, V128 = 0x7b;

  /* Instructions of WebAssembly, each an array of bytes. */
  const get = (name) => [0x20, LOCALS.indexOf(name)];
  const set = (name, value) => [...value, 0x21, LOCALS.indexOf(name)];
  const number = (value) => [0x41, value]; // below 64
  const plus = (a, b) => [...a, ...b, 0x6a];
  const minus = (a, b) => [...a, ...b, 0x6b];
  const times = (a, b) => [...a, ...b, 0x6c];
  const loop = (body, again, least) =>
    [0x03, 0x40, ...body, ...again, ...least, 0x49, 0x0d, 0x00, 0x0b]; // while again < least
  const vector = (place) => [...place, 0xfd, 0x00, 0x04, 0x00];
  const zeros = [0xfd, 0x0c, ...Array(16).fill(0)];
  const lane = (a, place) => [...a, 0xfd, 0x1f, place];
  const vectorPlus = (a, b) => [...a, ...b, 0xfd, 0xe4, 0x01];
  const vectorTimes = (a, b) => [...a, ...b, 0xfd, 0xe6, 0x01];
  const floatPlus = (a, b) => [...a, ...b, 0x92];
  const float = (place, offset) => [...place, 0x2a, 0x02, offset];
  const store = (place, value, offset) => [...place, ...value, 0x38, 0x02, offset];
  const sum = (a) => floatPlus(floatPlus(lane(a, 0), lane(a, 1)), floatPlus(lane(a, 2), lane(a, 3)));

  function product() {
    const step = (name, by) => set(name, plus(get(name), by));
    const inner = [
      ...ROWS.flatMap((r) => [...set(`vx${r}`, vector(get(`x${r}`))), ...step(`x${r}`, number(16))]),
      ...OUTS.flatMap((o) => [...set(`vw${o}`, vector(get(`w${o}`))), ...step(`w${o}`, number(16))]),
      ...PAIRS.flatMap(([r, o]) => set(`sum${r}${o}`,
        vectorPlus(get(`sum${r}${o}`), vectorTimes(get(`vx${r}`), get(`vw${o}`))))),
    ];
    const block = [
      ...ROWS.flatMap((r) => set(`x${r}`, plus(get("x"), times(get("xBytes"), number(r))))),
      ...set("w0", get("wBlock")), ...set("w1", plus(get("wBlock"), get("xBytes"))),
      ...set("end", get("w1")),
      ...PAIRS.flatMap(([r, o]) => set(`sum${r}${o}`, zeros)),
      ...loop(inner, get("w0"), get("end")),
      ...PAIRS.flatMap(([r, o]) => store(plus(get("yBlock"), times(get("yBytes"), number(r))),
        floatPlus(float(get("b"), 4 * o), sum(get(`sum${r}${o}`))), 4 * o)),
      ...step("wBlock", times(get("xBytes"), number(2))),
      ...step("yBlock", number(8)), ...step("b", number(8)), ...step("out", number(2)),
    ];
    const rows = [
      ...set("out", number(0)), ...set("wBlock", get("w")), ...set("yBlock", get("y")),
      ...loop(block, get("out"), get("outs")),
      ...set("b", minus(get("b"), get("yBytes"))),
      ...step("x", times(get("xBytes"), number(4))), ...step("y", times(get("yBytes"), number(4))),
      ...step("row", number(4)),
    ];
    return [...set("xBytes", times(get("ins"), number(4))),
            ...set("yBytes", times(get("outs"), number(4))),
            ...loop(rows, get("row"), get("rows"))];
  }

  function assembled() {
    const size = (n) => n < 128 ? [n] : [n & 127 | 128, ...size(n >>> 7)];
    const counted = (bytes) => [...size(bytes.length), ...bytes];
    const name = (text) => counted(Array.from(text, (letter) => letter.charCodeAt(0)));
    const section = (id, bytes) => [id, ...counted(bytes)];
    const locals = [2, WHOLE.length, I32, VECTORS.length, V128];
    return Uint8Array.from([
      0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00,
      ...section(1, [1, 0x60, GIVEN.length, ...GIVEN.map(() => I32), 0]), // a function's type
      ...section(2, [1, ...name("page"), ...name("memory"), 0x02, 0x00, 0x01]),
      ...section(3, [1, 0]),
      ...section(7, [1, ...name("product"), 0x00, 0x00]),
      ...section(10, [1, ...counted([...locals, ...product(), 0x0b])]),
    ]);
  }

  const ROOM = 1 << 20, FIRST = 4096; // floats for one x and one y; for a bias of zeros

  /* The weights in the kernel's memory, and `multiply` on them; null where a browser has no vectors. */
  function load(weights) {
    try {
      const floats = FIRST + weights.length + 4 + 2 * ROOM;
      const memory = new WebAssembly.Memory({ initial: Math.ceil(4 * floats / 65536) });
      const module = new WebAssembly.Module(assembled());
      const { product } = new WebAssembly.Instance(module, { page: { memory } }).exports;
      const all = new Float32Array(memory.buffer);
      all.set(weights, FIRST);
      const x = FIRST + Math.ceil(weights.length / 4) * 4, y = x + ROOM;

      /* x[rows, ins] · w[outs, ins]ᵀ + b into `into`, or false where the sizes do not fit. */
      function multiply(given, rows, w, b, into, ins, outs) {
        const padded = Math.ceil(rows / 4) * 4, even = outs & ~1;
        if (ins % 4 || padded * Math.max(ins, outs) > ROOM || outs > FIRST) return false;
        all.set(given, x);
        all.fill(0, x + rows * ins, x + padded * ins);
        product(4 * x, padded, w.byteOffset, b ? b.byteOffset : 0, 4 * y, ins, even);
        for (let row = 0; row < rows; row++) {
          into.set(all.subarray(y + row * even, y + (row + 1) * even), row * outs);
          if (even === outs) continue;
          let last = b ? b[even] : 0; // of an odd number of outs
          for (let i = 0; i < ins; i++) last += given[row * ins + i] * w[even * ins + i];
          into[row * outs + even] = last;
        }
        return true;
      }
      return { weights: all.subarray(FIRST, FIRST + weights.length), multiply };
    } catch {
      return null;
    }
  }

  return { load };
})();
