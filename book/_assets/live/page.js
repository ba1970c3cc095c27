/* The page "Ask it yourself": the model in its thread, and what a reader asks of it. */
"use strict";

const SCI_LIVE = (() => {
  let setup, scenes, weights, thread;
  const waiting = new Map(); // by number, who waits for the thread's answer

  const folder = () => document.querySelector("script[data-live]").src.replace(/[^/]*$/, "");

  function script(name) {
    return new Promise((done, failed) => {
      const element = document.createElement("script");
      element.src = `${folder()}${name}.js`;
      element.onload = done;
      element.onerror = () => failed(
        new Error(`${name}.js is not beside this page. Build the book anew.`));
      document.head.append(element);
    });
  }

  /* One question to the thread. */
  function ask(what, given) {
    return new Promise((done, failed) => {
      const id = waiting.size ? Math.max(...waiting.keys()) + 1 : 0;
      waiting.set(id, { done, failed });
      thread.postMessage({ id, ask: what, ...given });
    });
  }

  function heard({ data: { id, result, error } }) {
    const { done, failed } = waiting.get(id);
    waiting.delete(id);
    if (error) failed(new Error(error)); else done(result);
  }

  /* Loads the weights and starts the model; `vectors` false leaves plain loops to compute. */
  async function start(vectors = true) {
    for (const [name, there] of [["setup", setup], ["scenes", scenes], ["weights", weights]])
      if (!there) await script(name);
    if (thread) thread.terminate();
    thread = new Worker(URL.createObjectURL(new Blob([setup.thread])));
    thread.onmessage = heard;
    return ask("load", { weights, scenes, setup: setup.rounds, vectors });
  }

  return {
    setup: (content) => { setup = content; },
    world: (content) => { scenes = content; },
    weights: (content) => { weights = content; },
    methods: () => setup.methods,
    start,
    ask,
  };
})();
