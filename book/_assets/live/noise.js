/* The noise of `sci_core.counterfactuals` (variant "wrap") to the last pixel: BLAKE2b of the picture
   keys numpy's Philox, whose 64-bit numbers become normal ones by numpy's ziggurat. */
"use strict";

const LiveNoise = (() => {
  const MASK = (1n << 64n) - 1n;

  // BLAKE2b without a key (RFC 7693)
  const IV = [0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n,
              0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n];
  const ORDERS = ["0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8",
                  "905724afe1bc683d", "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a",
                  "6fe9b308c2d714a5", "a2847615fb9e3cd0", "0123456789abcdef", "ea489fd61c02b753"]
    .map((row) => Array.from(row, (digit) => parseInt(digit, 16)));
  const LANES = [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15],
                 [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]];
  const turned = (x, by) => BigInt.asUintN(64, x >> by | x << 64n - by);

  function blake2b(bytes, size) {
    const padded = new Uint8Array(Math.max(128, Math.ceil(bytes.length / 128) * 128));
    padded.set(bytes);
    const words = new BigUint64Array(padded.buffer);
    const v = new BigUint64Array(16), h = new BigUint64Array(IV);
    h[0] ^= 0x01010000n ^ BigInt(size);
    for (let block = 0; block < padded.length; block += 128) {
      const last = block + 128 >= padded.length, m = words.subarray(block / 8, block / 8 + 16);
      v.set(h);
      v.set(IV, 8);
      v[12] ^= BigInt(last ? bytes.length : block + 128);
      if (last) v[14] ^= MASK;
      for (const order of ORDERS)
        for (let i = 0; i < 8; i++) {
          const [a, b, c, d] = LANES[i];
          v[a] += v[b] + m[order[2 * i]];
          v[d] = turned(v[d] ^ v[a], 32n);
          v[c] += v[d];
          v[b] = turned(v[b] ^ v[c], 24n);
          v[a] += v[b] + m[order[2 * i + 1]];
          v[d] = turned(v[d] ^ v[a], 16n);
          v[c] += v[d];
          v[b] = turned(v[b] ^ v[c], 63n);
        }
      for (let i = 0; i < 8; i++) h[i] ^= v[i] ^ v[i + 8];
    }
    return new Uint8Array(h.buffer).slice(0, size);
  }

  // Philox 4x64-10
  function* philox(key) {
    for (let counter = 1n; ; counter++) {
      let [a, b, c, d] = [counter, 0n, 0n, 0n], [k, l] = key;
      for (let round = 0; round < 10; round++) {
        const p = 0xD2E7470EE14C6C93n * a, q = 0xCA5A826395121157n * c;
        [a, b, c, d] = [q >> 64n ^ b ^ k, q & MASK, p >> 64n ^ d ^ l, p & MASK];
        k = k + 0x9E3779B97F4A7C15n & MASK;
        l = l + 0xBB67AE8584CAA73Bn & MASK;
      }
      yield a;
      yield b;
      yield c;
      yield d;
    }
  }

  // numpy's ziggurat of 256 strips: their limits, widths and heights
  const EDGE = 3.6541528853610087963519472518, AREA = 0.00492867323399, UNIT = 2 ** 52;
  const LIMIT = new Float64Array(256), WIDTH = new Float64Array(256), HEIGHT = new Float64Array(256);
  {
    const height = (x) => Math.exp(-0.5 * x * x);
    let x = EDGE, before = EDGE;
    LIMIT[0] = Math.floor(EDGE / (AREA / height(EDGE)) * UNIT);
    WIDTH[0] = AREA / height(EDGE) / UNIT;
    WIDTH[255] = EDGE / UNIT;
    HEIGHT[0] = 1;
    HEIGHT[255] = height(EDGE);
    for (let i = 254; i > 0; i--) {
      x = Math.sqrt(-2 * Math.log(AREA / x + height(x)));
      LIMIT[i + 1] = Math.floor(x / before * UNIT);
      WIDTH[i] = x / UNIT;
      HEIGHT[i] = height(x);
      before = x;
    }
  }

  function normal(key, count) {
    const bits = philox(key), next = () => bits.next().value;
    const uniform = () => Number(next() >> 11n) / 2 ** 53;
    const values = new Float64Array(count);
    for (let n = 0; n < count;) {
      const drawn = next(), strip = Number(drawn & 255n);
      const size = Number(drawn >> 9n & 0xfffffffffffffn), sign = drawn >> 8n & 1n ? -1 : 1;
      const x = sign * size * WIDTH[strip];
      if (size < LIMIT[strip]) {
        values[n++] = x;
      } else if (strip) {
        const y = (HEIGHT[strip - 1] - HEIGHT[strip]) * uniform() + HEIGHT[strip];
        if (y < Math.exp(-0.5 * x * x)) values[n++] = x;
      } else {
        for (let tail, y; ;) {
          tail = -Math.log1p(-uniform()) / EDGE;
          y = -Math.log1p(-uniform());
          if (y + y <= tail * tail) continue;
          values[n++] = drawn >> 17n & 1n ? -(EDGE + tail) : EDGE + tail;
          break;
        }
      }
    }
    return values;
  }

  /* RGB bytes of a square picture with the noise of a step on it, whose `alphaBar` the page has. */
  function noisy(rgb, side, step, alphaBar) {
    const head = new TextEncoder().encode(`${side}x${side} noise${step} `);
    const content = new Uint8Array(head.length + rgb.length);
    content.set(head);
    content.set(rgb, head.length);
    const noise = normal(new BigUint64Array(blake2b(content, 16).buffer), rgb.length);
    const keep = Math.sqrt(alphaBar), spread = Math.sqrt(1 - alphaBar);
    return Uint8Array.from(rgb, (value, i) =>
      Math.trunc(255 * (keep * (value / 255) + spread * noise[i])) & 255);
  }

  return { noisy };
})();
