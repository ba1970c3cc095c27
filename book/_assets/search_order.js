// Which pages a search names first: those that explain, then the paper's, then its companions'.
var Scorer = {
  score: ([page, , , , score]) =>
    score + ([
      [/^book\/method$/, 30],
      [/^notebooks\/(00_quickstart|results)$/, 20],
      [/^(book\/(drbench|introduction)|notebooks\/01_pocket_world)$/, 15],
      [/^book\/api/, -5],
      [/^notebooks\/(cvqa|edge|oric|metara|audit)_/, -10],
    ].find(([pages]) => pages.test(page))?.[1] ?? 0),
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
