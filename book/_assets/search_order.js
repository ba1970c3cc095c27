// Which pages a search names first: what somebody asks for by these words, then the pages that
// explain, then the paper's, then its companions'.
var Scorer = {
  score: ([page, , , , score]) => {
    const asked = new URLSearchParams(location.search).get("q") ?? ""
    const meant = [
      [/^(tau ?[12]|τ ?[12]|beta|β)$/i, "notebooks/beta_and_tau"],
      [/^(my |your )?own data$/i, "book/your_own_data"],
      [/^chair$/i, "notebooks/descriptions"],
      [/^(cite|citation|citing|bibtex)$/i, "book/bibliography"],
    ].some(([words, at]) => words.test(asked.trim()) && page === at)
    return score + (meant ? 1000 : [
      [/^book\/method$/, 30],
      [/^notebooks\/(00_quickstart|results|asked)$/, 20],
      [/^(book\/(drbench|introduction)|notebooks\/01_pocket_world)$/, 15],
      [/^book\/api/, -5],
      [/^notebooks\/(cvqa|edge|oric|metara|audit)_/, -10],
    ].find(([pages]) => pages.test(page))?.[1] ?? 0)
  },
  objNameMatch: 11, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 15, partialTitle: 7, term: 5, partialTerm: 2,
};
