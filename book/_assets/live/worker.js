/* The model in a thread of its own: one message asks, one answers. */
"use strict";

let live = null, world = null;

const ASKED = {
  world({ world: given }) {
    world = new LiveWorld(given);
  },
  load({ weights, setup, vectors }) {
    live = new LiveRounds(new LiveModel.Model(weights, vectors), setup);
    live.head(new Uint8Array(3 * weights.side ** 2), "black");
    return { vectors: live.model.kernel !== null, pieces: live.pieces() };
  },
  answer: ({ rgb, prompt, method, ...asked }) => live.answer(rgb, prompt, method, asked),
  draw: ({ scene }) => world.draw(scene),
  noise: ({ rgb, name }) => live.shown(rgb, name),
  unknown: ({ text }) => live.model.tokenizer.unknown(text),
};

self.onmessage = ({ data: { id, ask, ...given } }) => {
  try {
    self.postMessage({ id, result: ASKED[ask](given) });
  } catch (error) {
    self.postMessage({ id, error: error.message });
  }
};
