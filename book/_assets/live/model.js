/* A pocket Qwen2-VL in plain arrays of floats: from a picture and token ids to logits.

   `given` is what `sci_book/papers/sci/live/weights.py` writes. A picture is square, of RGB bytes,
   and as large as a picture of the pocket world. */
"use strict";

const LiveModel = (() => {
  const LEVELS = 2 ** 19; // of a weight on either side of 0

  const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

  /* Whole numbers of 20 bits, two in five bytes, times the scale of their row. */
  function decoded(bytes, scales, tensors) {
    const values = new Float32Array(bytes.length / 5 * 2);
    for (let i = 0, at = 0; i < values.length; i += 2, at += 5) {
      const half = bytes[at + 2];
      values[i] = (bytes[at] | bytes[at + 1] << 8 | (half & 15) << 16) - LEVELS;
      values[i + 1] = (half >> 4 | bytes[at + 3] << 4 | bytes[at + 4] << 12) - LEVELS;
    }
    let row = 0;
    for (const { start, rows, size } of Object.values(tensors))
      for (let r = 0; r < rows; r++, row++)
        for (let i = start + r * size; i < start + (r + 1) * size; i++) values[i] *= scales[row];
    return values;
  }

  function layerNorm(x, rows, weight, bias, eps) {
    const n = weight.length, y = new Float32Array(rows * n);
    for (let at = 0; at < rows * n; at += n) {
      let mean = 0, square = 0;
      for (let i = 0; i < n; i++) mean += x[at + i];
      mean /= n;
      for (let i = 0; i < n; i++) square += (x[at + i] - mean) ** 2;
      const scale = 1 / Math.sqrt(square / n + eps);
      for (let i = 0; i < n; i++) y[at + i] = (x[at + i] - mean) * scale * weight[i] + bias[i];
    }
    return y;
  }

  function rmsNorm(x, rows, weight, eps) {
    const n = weight.length, y = new Float32Array(rows * n);
    for (let at = 0; at < rows * n; at += n) {
      let square = 0;
      for (let i = 0; i < n; i++) square += x[at + i] ** 2;
      const scale = 1 / Math.sqrt(square / n + eps);
      for (let i = 0; i < n; i++) y[at + i] = x[at + i] * scale * weight[i];
    }
    return y;
  }

  function add(x, y) {
    for (let i = 0; i < x.length; i++) x[i] += y[i];
  }

  function erf(x) { // a series, exact to a float's precision
    if (x < 0) return -erf(-x);
    if (x > 4) return 1;
    let term = x, sum = x;
    for (let n = 1; term > 1e-12 * sum; n++) sum += term *= 2 * x * x / (2 * n + 1);
    return 2 / Math.sqrt(Math.PI) * Math.exp(-x * x) * sum;
  }

  /* Attention of queries over the keys that each may see, 0 … span(row) - 1. A vector holds its heads
     side by side; `stride` is how many floats apart two vectors lie. */
  function attend(q, rows, qStride, k, v, stride, heads, kvHeads, size, span) {
    const out = new Float32Array(rows * heads * size), scale = 1 / Math.sqrt(size);
    const scores = new Float64Array(Math.ceil(k.length / stride)), mixed = new Float64Array(size);
    for (let head = 0; head < heads; head++) {
      const shared = (head * kvHeads / heads | 0) * size;
      for (let row = 0; row < rows; row++) {
        const seen = span(row), from = row * qStride + head * size;
        let top = -Infinity, sum = 0;
        for (let j = 0; j < seen; j++) {
          const key = j * stride + shared;
          let score = 0;
          for (let i = 0; i < size; i++) score += q[from + i] * k[key + i];
          scores[j] = score * scale;
          if (scores[j] > top) top = scores[j];
        }
        for (let j = 0; j < seen; j++) sum += scores[j] = Math.exp(scores[j] - top);
        mixed.fill(0);
        for (let j = 0; j < seen; j++) {
          const share = scores[j] / sum, value = j * stride + shared;
          for (let i = 0; i < size; i++) mixed[i] += share * v[value + i];
        }
        out.set(mixed, (row * heads + head) * size);
      }
    }
    return out;
  }

  /* Cosines and sines [rows, half] of angle(row, i). */
  function angles(rows, half, angle) {
    const cos = new Float32Array(rows * half), sin = new Float32Array(rows * half);
    for (let row = 0; row < rows; row++)
      for (let i = 0; i < half; i++) {
        const turn = Math.fround(angle(row, i));
        cos[row * half + i] = Math.cos(turn);
        sin[row * half + i] = Math.sin(turn);
      }
    return { cos, sin, half };
  }

  /* Turns the pairs (i, i + half) of each head. */
  function rotate(x, rows, stride, heads, { cos, sin, half }) {
    for (let row = 0; row < rows; row++)
      for (let head = 0; head < heads; head++)
        for (let i = 0; i < half; i++) {
          const a = row * stride + head * 2 * half + i, b = a + half;
          const c = cos[row * half + i], s = sin[row * half + i], first = x[a];
          x[a] = first * c - x[b] * s;
          x[b] = x[b] * c + first * s;
        }
  }

  class Model {
    /* `vectors`: whether to look for the browser's; plain loops compute the same without them. */
    constructor(given, vectors = true) {
      this.given = given;
      this.tokenizer = new LiveTokenizer(given.tokenizer);
      const scales = new Float32Array(bytesOf(given.scales).buffer);
      let all = decoded(bytesOf(given.values), scales, given.tensors);
      this.kernel = vectors ? LiveKernel.load(all) : null;
      if (this.kernel) all = this.kernel.weights;
      this.weights = Object.fromEntries(Object.entries(given.tensors).map(
        ([name, { start, rows, size }]) => [name, all.subarray(start, start + rows * size)]));
    }

    /* y[rows, outs] = x[rows, ins] · weightᵀ + bias, by the tensors' name. */
    linear(x, rows, name, tensor = "weight") {
      const w = this.weights[`${name}.${tensor}`], b = this.weights[`${name}.bias`];
      const ins = x.length / rows, outs = w.length / ins, into = new Float32Array(rows * outs);
      if (this.kernel && this.kernel.multiply(x, rows, w, b, into, ins, outs)) return into;
      for (let row = 0; row < rows; row++)
        for (let out = 0; out < outs; out++) {
          let even = 0, odd = 0;
          for (let i = 0, at = row * ins, of = out * ins; i < ins; i += 2) {
            even += x[at + i] * w[of + i];
            odd += x[at + i + 1] * w[of + i + 1];
          }
          into[row * outs + out] = even + odd + (b ? b[out] : 0);
        }
      return into;
    }

    /* What the language model reads of a picture: values [width · width, hidden]. */
    see(rgb) {
      const c = this.given.vision, w = this.weights, { mean, std } = this.given;
      const side = this.given.side, grid = side / c.patch, n = grid * grid, area = c.patch ** 2;
      const place = []; // of a patch; the patches of one merged square stand side by side
      for (let y = 0; y < grid; y += c.merge)
        for (let x = 0; x < grid; x += c.merge)
          for (let dy = 0; dy < c.merge; dy++)
            for (let dx = 0; dx < c.merge; dx++) place.push([y + dy, x + dx]);
      const patches = new Float32Array(n * 3 * area);
      let at = 0;
      for (const [row, column] of place)
        for (let channel = 0; channel < 3; channel++)
          for (let y = row * c.patch; y < (row + 1) * c.patch; y++)
            for (let x = column * c.patch; x < (column + 1) * c.patch; x++)
              patches[at++] = (rgb[(y * side + x) * 3 + channel] / 255 - mean[channel]) / std[channel];
      const x = this.linear(patches, n, "visual.patch_embed.proj");
      const size = c.dim / c.heads, quarter = size / 4;
      const turns = angles(n, size / 2, (p, i) =>
        place[p][i < quarter ? 0 : 1] / Math.fround(c.theta ** ((i % quarter) * 4 / size)));
      for (let layer = 0; layer < c.layers; layer++) {
        const name = `visual.blocks.${layer}`;
        const norm = (part, values) => layerNorm(
          values, n, w[`${name}.${part}.weight`], w[`${name}.${part}.bias`], 1e-6);
        const qkv = this.linear(norm("norm1", x), n, `${name}.attn.qkv`), stride = 3 * c.dim;
        rotate(qkv, n, stride, 2 * c.heads, turns); // queries, and the keys behind them
        const seen = attend(qkv, n, stride, qkv.subarray(c.dim), qkv.subarray(2 * c.dim), stride,
                            c.heads, c.heads, size, () => n);
        add(x, this.linear(seen, n, `${name}.attn.proj`));
        const y = this.linear(norm("norm2", x), n, `${name}.mlp.fc1`);
        for (let i = 0; i < y.length; i++) y[i] /= 1 + Math.exp(-1.702 * y[i]);
        add(x, this.linear(y, n, `${name}.mlp.fc2`));
      }
      const width = grid / c.merge, tokens = width * width, merger = "visual.merger";
      const normed = layerNorm(x, n, w[`${merger}.ln_q.weight`], w[`${merger}.ln_q.bias`], 1e-6);
      const y = this.linear(normed, tokens, `${merger}.mlp.0`);
      for (let i = 0; i < y.length; i++) y[i] *= 0.5 * (1 + erf(y[i] / Math.SQRT2));
      return { width, values: this.linear(y, tokens, `${merger}.mlp.2`) };
    }

    /* The state after some tokens behind `state` (null: from the start), which stays as it is.

       `picture` is what stands at their image tokens. */
    read(state, ids, picture = null) {
      const c = this.given.text, w = this.weights, n = ids.length, past = state ? state.length : 0;
      const table = w["embed_tokens.weight"], x = new Float32Array(n * c.hidden);
      const size = c.hidden / c.heads, stride = c.kvHeads * size, places = [];
      let next = state ? state.next : 0, seen = 0;
      ids.forEach((id, row) => {
        const shown = picture && id === this.given.imageToken;
        const from = shown ? picture.values : table, place = shown ? seen : id;
        x.set(from.subarray(place * c.hidden, (place + 1) * c.hidden), row * c.hidden);
        if (!shown) {
          places.push([next, next, next]);
          next++;
          return;
        }
        places.push([next, next + (seen / picture.width | 0), next + seen % picture.width]);
        if (++seen === picture.width ** 2) next += picture.width;
      });
      const axes = c.sections.flatMap((length, axis) => Array(length).fill(axis));
      const turns = angles(n, size / 2, (row, i) =>
        places[row][axes[i]] * Math.fround(1 / c.theta ** (2 * i / size)));
      const keys = [], values = [];
      const behind = (before, own) => {
        const all = new Float32Array((past + n) * stride);
        if (before) all.set(before);
        all.set(own, past * stride);
        return all;
      };
      for (let layer = 0; layer < c.layers; layer++) {
        const name = `layers.${layer}`;
        const norm = (part) => rmsNorm(x, n, w[`${name}.${part}.weight`], c.eps);
        const normed = norm("input_layernorm");
        const [q, k, v] = ["q", "k", "v"].map(
          (part) => this.linear(normed, n, `${name}.self_attn.${part}_proj`));
        rotate(q, n, c.hidden, c.heads, turns);
        rotate(k, n, stride, c.kvHeads, turns);
        keys.push(behind(state && state.keys[layer], k));
        values.push(behind(state && state.values[layer], v));
        const heard = attend(q, n, c.hidden, keys[layer], values[layer], stride,
                             c.heads, c.kvHeads, size, (row) => past + row + 1);
        add(x, this.linear(heard, n, `${name}.self_attn.o_proj`));
        const again = norm("post_attention_layernorm");
        const gate = this.linear(again, n, `${name}.mlp.gate_proj`);
        const up = this.linear(again, n, `${name}.mlp.up_proj`);
        for (let i = 0; i < gate.length; i++) gate[i] *= up[i] / (1 + Math.exp(-gate[i]));
        add(x, this.linear(gate, n, `${name}.mlp.down_proj`));
      }
      const last = rmsNorm(x.subarray((n - 1) * c.hidden), 1, w["norm.weight"], c.eps);
      const logits = this.linear(last, 1, "embed_tokens");
      return { length: past + n, next, keys, values, logits };
    }
  }

  return { Model, bytesOf };
})();
