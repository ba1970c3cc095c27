/* The model in a thread of its own: one message asks, one answers. */
"use strict";

let live = null, world = null;

const ASKED = {
  load({ weights, setup, scenes, vectors }) {
    world = new LiveWorld(scenes);
    live = new LiveRounds(new LiveModel.Model(weights, vectors), setup);
    live.head(new Uint8Array(3 * weights.side ** 2), "black");
    return { vectors: live.model.kernel !== null };
  },
  answer: ({ rgb, prompt, method, ...asked }) => live.answer(rgb, prompt, method, asked),
  draw: ({ scene }) => world.draw(scene),
  noise: ({ rgb, name }) => live.shown(rgb, name),
  unknown: ({ text }) => live.model.tokenizer.unknown(text),
  encode: ({ texts }) => texts.map((text) => live.model.tokenizer.encode(text)),
};

self.onmessage = ({ data: { id, ask, ...given } }) => {
  try {
    self.postMessage({ id, result: ASKED[ask](given) });
  } catch (error) {
    self.postMessage({ id, error: String(error.stack || error) });
  }
};
