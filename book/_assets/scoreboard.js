// A filter above the scoreboard (notebooks/verdicts). Without scripts its tables stand unfiltered.
addEventListener("DOMContentLoaded", () => {
  const place = document.querySelector(".scoreboard-filter")
  if (!place) return
  const tables = [...document.querySelectorAll("details.scoreboard")]
  const lines = tables.flatMap(table => [...table.querySelectorAll("tbody tr")])
  const verdict = line => line.children[2].textContent.trim()
  const kinds = [...new Set(lines.map(verdict))].sort()
  place.innerHTML = `
    <label>Words <input type="search" placeholder="Table 2, VCD, trainings …"></label>
    <label>Verdict <select><option value="">any</option>
      ${kinds.map(kind => `<option>${kind}</option>`).join("")}</select></label>
    <output aria-live="polite"></output>`
  const [words, kind, count] = ["input", "select", "output"].map(name => place.querySelector(name))
  const filter = () => {
    const wanted = words.value.toLowerCase().split(/\s+/)
    const idle = !words.value.trim() && !kind.value
    for (const line of lines) {
      const text = line.textContent.toLowerCase()
      line.hidden = !wanted.every(word => text.includes(word))
        || Boolean(kind.value) && verdict(line) !== kind.value
    }
    tables.forEach((table, number) => {
      table.open = idle ? number === 0 : Boolean(table.querySelector("tbody tr:not([hidden])"))
    })
    count.textContent = `${lines.filter(line => !line.hidden).length} of ${lines.length} lines`
  }
  words.addEventListener("input", filter)
  kind.addEventListener("change", filter)
  filter()
})
