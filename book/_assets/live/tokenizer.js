/* Byte-level BPE as `tokenizer.json` has it: what the pocket models read and write. */
"use strict";

class LiveTokenizer {
  static WORDS = /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+/gu;

  /* `vocabulary` in the order of ids, `merges` in that of their rank, `special` texts first. */
  constructor({ vocabulary, merges, special }) {
    this.vocabulary = vocabulary;
    this.special = special.length;
    this.ids = new Map(vocabulary.map((piece, id) => [piece, id]));
    this.rank = new Map(merges.map((pair, rank) => [pair, rank]));
    const printed = (byte) => byte >= 33 && byte <= 126 || byte >= 161 && byte !== 173;
    let unprinted = 256;
    this.letter = Array.from({ length: 256 }, (_, byte) =>
      String.fromCharCode(printed(byte) ? byte : unprinted++));
    this.byte = new Map(this.letter.map((letter, byte) => [letter, byte]));
    this.known = new Map();
  }

  /* The ids of a text; one that looks like a special token is read as letters. */
  encode(text) {
    const ids = [];
    for (const part of text.split(/([\u4e00-\u9fff])/)) // each Chinese character stands alone
      for (const [word] of part.matchAll(LiveTokenizer.WORDS)) ids.push(...this.word(word));
    return ids;
  }

  word(word) {
    if (this.known.has(word)) return this.known.get(word);
    let pieces = Array.from(new TextEncoder().encode(word), (byte) => this.letter[byte]);
    for (;;) {
      let best = Infinity, first = "", second = "";
      for (let i = 0; i + 1 < pieces.length; i++) {
        const rank = this.rank.get(`${pieces[i]} ${pieces[i + 1]}`);
        if (rank < best) [best, first, second] = [rank, pieces[i], pieces[i + 1]];
      }
      if (best === Infinity) break;
      const joined = [];
      for (let i = 0; i < pieces.length; i++) {
        const pair = pieces[i] === first && pieces[i + 1] === second;
        joined.push(pair ? first + second : pieces[i]);
        if (pair) i++;
      }
      pieces = joined;
    }
    const ids = pieces.map((piece) => this.ids.get(piece));
    this.known.set(word, ids);
    return ids;
  }

  decode(ids) {
    const letters = ids.filter((id) => id >= this.special).map((id) => this.vocabulary[id]).join("");
    return new TextDecoder().decode(Uint8Array.from(letters, (letter) => this.byte.get(letter)));
  }

  /* The words that the model never learnt as words: as they stand in the text, spelt in pieces. */
  unknown(text) {
    const words = text.match(/[\u4e00-\u9fff]| ?(?:(?![\u4e00-\u9fff])[\p{L}\p{N}])+/gu) || [];
    const known = (word) => this.word(word).length === 1
      || !word.startsWith(" ") && this.word(` ${word}`).length === 1;
    return [...new Set(words.filter((word) => !known(word)).map((word) => word.trim()))];
  }
}
