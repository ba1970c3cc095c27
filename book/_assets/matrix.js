// Sorts and filters the matrix (notebooks/matrix) and opens its cells. Without scripts it stands
// as a plain table.
addEventListener("DOMContentLoaded", () => {
  const table = document.querySelector("table.matrix")
  const place = document.querySelector(".matrix-filter")
  if (!table || !place) return
  const escape = text => text.replace(/[&<>"]/g, sign => `&#${sign.charCodeAt(0)};`)
  const body = table.tBodies[0]
  const lines = [...body.rows]
  const kinds = ["paper", "model"]
  place.innerHTML = `
    <label>Words <input type="search" placeholder="blur captions"></label>
    ${kinds.map(kind => `<label>${kind[0].toUpperCase()}${kind.slice(1)} <select>
      <option value="">any</option>
      ${[...new Set(lines.map(line => line.dataset[kind]))]
        .map(text => `<option>${escape(text)}</option>`).join("")}</select></label>`).join("")}
    <output aria-live="polite"></output>`
  const words = place.querySelector("input")
  const choices = [...place.querySelectorAll("select")]
  const count = place.querySelector("output")

  // "B" is the subset, not every word with a b.
  const split = text => text.toLowerCase().split(/[\s,]+/).filter(Boolean)
  const matches = (word, other) => word.length < 3 ? other === word : other.includes(word)
  const close = () => {
    table.querySelector("tr.opened")?.remove()
    table.querySelector("[aria-expanded=true]")?.setAttribute("aria-expanded", "false")
  }
  const filter = () => {
    close()
    const wanted = split(words.value)
    for (const line of lines) {
      const own = split(line.cells[0].firstChild.textContent)
      line.hidden = !wanted.every(word => own.some(other => matches(word, other)))
        || choices.some((choice, number) =>
          choice.value && choice.value !== line.dataset[kinds[number]])
    }
    count.textContent = `${lines.filter(line => !line.hidden).length} of ${lines.length} lines`
  }
  words.addEventListener("input", filter)
  choices.forEach(choice => choice.addEventListener("change", filter))

  // A number sorts by its value, a dash last, all else by its letters.
  const value = cell => {
    const text = cell.textContent.trim()
    const number = parseFloat(text.replace("−", "-"))
    return text === "—" ? Infinity : Number.isNaN(number) ? text : number
  }
  const before = (a, b) => typeof a === "string" ? a.localeCompare(b) : a - b
  ;[...table.tHead.rows[0].cells].forEach((head, column) => {
    // Paper repeats a head on each sheet, but none that holds a button.
    const name = head.innerHTML
    const press = () => { head.innerHTML = `<button type="button">${name}</button>` }
    press()
    window.addEventListener("beforeprint", () => { head.innerHTML = name })
    window.addEventListener("afterprint", press)
    head.addEventListener("click", () => {
      close()
      const down = head.getAttribute("aria-sort") === "ascending" ? -1 : 1
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort")
      head.setAttribute("aria-sort", down > 0 ? "ascending" : "descending")
      const known = new Map(lines.map(line => [line, value(line.cells[column])]))
      const last = key => key === Infinity
      lines.sort((one, two) => {
        const [a, b] = [known.get(one), known.get(two)]
        return last(a) || last(b) ? last(a) - last(b) : down * before(a, b)
      })
      body.append(...lines)
    })
  })

  const rows = (cell, side) => {
    const { [side]: number, [`${side}Groups`]: groups } = cell.dataset
    const names = groups ? groups.split("\n").map(name => `<code>${escape(name)}</code>`) : []
    const named = names.length ? `, such as ${names.join(", ")}` : ""
    return `<b>${number}</b> groups of rows ${side}${named}`
  }
  // A column's row of `sci_book.methods`, which the page brings; a control has no rule to explore.
  const methodOf = head => {
    const method = JSON.parse(head.dataset.method || "null")
    if (method?.rule === undefined) throw new Error(
      `The column “${head.textContent.trim()}” brings no method. Execute notebooks/matrix anew.`)
    return method
  }
  const settingOf = ({ rule, textual, visual, tau1, tau2, beta }) =>
    `rule=${rule}&rounds=${[...textual, ...visual].join(".")}` +
    `&tau1=${tau1}&tau2=${tau2}&beta=${beta}`
  const heads = [...table.tHead.rows[0].cells].slice(1)
  const methods = new Map(heads.map(head => [head, methodOf(head)]))
  const told = (line, cell) => {
    const { page, title, better, explored, model } = line.dataset
    const { n, groups, gained } = cell.dataset
    const head = table.tHead.rows[0].cells[cell.cellIndex]
    const method = methods.get(head)
    const probe = escape(line.cells[0].firstChild.textContent.trim())
    const parts = [
      `<b>${escape(method.label)} less base</b>, ${probe}, ${escape(model)}: ${cell.textContent.trim()} points; ` +
      `${better === "greater" ? "more" : "less"} is better. n = ${n}, in ${groups} groups.`,
    ]
    if (gained) parts.push(`${rows(cell, "gained")}; ${rows(cell, "lost")}.`)
    parts.push(`Its chapter: <a href="${page}">${escape(title)}</a>.`)
    if (explored && method.rule) {
      const setting = `m=${encodeURIComponent(explored)}&${settingOf(method)}`
      parts.push(`<a href="../book/explorer.html#${setting}">This setting on the explorer’s ` +
                 "questions</a>.")
    }
    return parts.join(" ")
  }
  for (const line of lines) {
    for (const cell of line.querySelectorAll("td[data-n]")) {
      cell.innerHTML = `<button type="button" aria-expanded="false">${cell.innerHTML}</button>`
      cell.firstChild.addEventListener("click", () => {
        const open = cell.firstChild.getAttribute("aria-expanded") === "true"
        close()
        if (open) return
        cell.firstChild.setAttribute("aria-expanded", "true")
        const opened = body.insertRow(line.sectionRowIndex + 1)
        opened.className = "opened"
        opened.insertCell().colSpan = line.cells.length
        opened.cells[0].innerHTML = told(line, cell)
      })
    }
  }
  filter()
})
