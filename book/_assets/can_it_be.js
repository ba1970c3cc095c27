// Says which counts of right answers a percentage can be (notebooks/audit_paper_numbers). Without
// scripts its first example stands there as a sentence.
function canBe(share, rows) {
  const decimals = (share.split(".")[1] ?? "").length
  const unit = 100n * 10n ** BigInt(decimals) // all rows, in units of the last decimal
  const all = BigInt(rows)
  const printed = BigInt(share.replace(".", "")) * all
  const lowest = 2n * printed - all
  const first = lowest < 0n ? 0n : (lowest + 2n * unit - 1n) / (2n * unit)
  const highest = (2n * printed + all) / (2n * unit)
  const last = highest > all ? all : highest
  const number = count => count.toLocaleString("en")
  const percent = count => { // with one decimal more, a half rounded up
    const digits = String((20n * unit * count + all) / (2n * all)).padStart(decimals + 2, "0")
    return `${digits.slice(0, -decimals - 1)}.${digits.slice(-decimals - 1)}`
  }
  const told = count => `${number(count)} right answers are ${percent(count)} %`
  const of = `${share} % of ${number(rows)} rows`
  if (first < last) return `${of} can be: ${number(first)} to ${number(last)} right answers all are.`
  if (first === last) return `${of} can be: ${told(first)}.`
  return `${of} cannot be: ${told(last)}, ${told(first)}.`
}

addEventListener("DOMContentLoaded", () => {
  const place = document.querySelector(".can-it-be")
  if (!place) return
  const answer = place.querySelector("p")
  const form = document.createElement("div")
  form.className = "scoreboard-filter" // its looks are those of other fields to type in
  form.innerHTML = `
    <label>Percentage <input inputmode="decimal" maxlength="8" size="6"></label>
    <label>of rows <input inputmode="numeric" maxlength="9" size="8"></label>`
  place.prepend(form)
  const [share, rows] = form.querySelectorAll("input")
  share.value = place.dataset.share
  rows.value = place.dataset.rows
  answer.setAttribute("aria-live", "polite")
  form.addEventListener("input", () => {
    const [percent, count] = [share.value.trim().replace(",", "."), rows.value.replace(/[\s,]/g, "")]
    answer.textContent =
      !/^\d{1,3}(\.\d{1,4})?$/.test(percent) || Number(percent) > 100
        ? "Type a percentage from 0 to 100, such as 27.93."
        : !/^[1-9]\d{0,8}$/.test(count)
          ? "Type how many rows there are, such as 1756."
          : canBe(percent, Number(count))
  })
})
