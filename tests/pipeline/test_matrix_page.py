"""The matrix's script in a real browser: it knows of methods what the page brings, and no more."""

import html
import json

import pytest

from sci_book.methods import COMPARED, COMPARED_CONTROLS, CONTROLS
from sci_book.pipeline import matrix
from sci_book.resources import ROOT
from sci_core.methods import METHODS
from tests.chromium import chromium, watched

CELLS = len(matrix.SHOWN) * '<td data-n="30" data-groups="10">1.0</td>'
LINE = (
    '<tr data-page="table02" data-title="T" data-better="greater" data-paper="p" data-model="m" '
    f'data-explored="pocket"><th scope="row">BS <small>p</small></th>{CELLS}</tr>'
)


@pytest.fixture(scope="module")
def browser():
    with chromium() as browser:
        yield browser


def page_of(browser, folder, table):
    script = (ROOT / "book" / "_assets" / "matrix.js").read_text(encoding="utf-8")
    file = folder / "page.html"
    file.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title>{table}'
        f"<script>{script}</script></html>",
        encoding="utf-8",
    )
    page = browser.new_page()
    problems = watched(page)
    page.goto(file.as_uri())
    return page, problems


def test_a_cell_leads_to_its_method_on_the_explorer(browser, tmp_path):
    table = matrix.as_html([]).replace("</tbody>", f"{LINE}</tbody>")
    page, problems = page_of(browser, tmp_path, table)
    for place, name in enumerate(COMPARED):
        page.locator("tbody tr td button").nth(place).click()
        assert page.inner_text("tr.opened b").startswith(f"{name} less base")
        method = METHODS[name]
        rounds = ".".join((*method.textual, *method.visual))
        address = (
            f"#m=pocket&rule={method.rule}&rounds={rounds}&tau1={method.tau1:g}&tau2=0.2&beta=0.3"
        )
        assert page.locator("tr.opened a").last.get_attribute("href").endswith(address)
        page.locator("tbody tr td button").nth(place).click()
    assert not problems
    page.close()


@pytest.mark.parametrize("name", COMPARED_CONTROLS)
def test_a_cell_of_a_control_has_its_numbers_and_no_setting_to_explore(name, browser, tmp_path):
    table = matrix.as_html([]).replace("</tbody>", f"{LINE}</tbody>")
    page, problems = page_of(browser, tmp_path, table)
    page.locator("tbody tr td button").nth(matrix.SHOWN.index(name)).click()
    assert page.inner_text("tr.opened b").startswith(f"{CONTROLS[name].label} less base")
    links = page.locator("tr.opened a").all()
    assert [link.get_attribute("href") for link in links] == ["table02"] and not problems
    page.close()


@pytest.mark.parametrize("name", ["TIE", "SCI5", "SCI7"])
def test_a_column_without_its_methods_row_is_an_error(name, browser, tmp_path):
    table = matrix.as_html([]).replace("</tbody>", f"{LINE}</tbody>")
    row = json.loads(html.unescape(table.split(f'">{name} ')[0].rsplit('data-method="', 1)[1]))
    assert row["rule"] == METHODS[name].rule and row["label"] == name and row["colour"]
    head = html.escape(json.dumps(row))
    assert table.count(head) == 1
    page, problems = page_of(browser, tmp_path, table.replace(head, "{}"))
    assert any(f"The column “{name}" in str(each) for each in problems)
    page.close()
