"""The system's Chromium, which is no Python package, for tests that look at a page."""

import re
import shutil
from contextlib import contextmanager

import pytest
from playwright.sync_api import sync_playwright

from sci_book.resources import ROOT

NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def chromium():
    """A browser without a window; a test that finds none says how to install it."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.fail(
            "No Chromium to show the pages in; install it (on Debian and Ubuntu, as root: "
            "apt-get install chromium)."
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found)
        yield browser
        browser.close()


@contextmanager
def one_window(**settings):
    """A browser's context for many pages: what one has loaded the next need not."""
    with chromium() as browser:
        window = browser.new_context(**settings)
        window.new_page()  # an open page, whose process keeps what was loaded
        yield window


def raw_page(folder, name):
    """A page of the book's prose as its raw HTML alone, in a folder beside `_static`."""
    source = (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")
    body = re.search(r"```\{raw\} html\n(.*?)```", source, re.DOTALL)[1]
    path = folder / "book" / f"{name}.html"
    path.parent.mkdir()
    path.write_text(
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title>{body}</html>',
        encoding="utf-8",
    )
    return path


def watched(page):
    """What goes wrong on a page from now on: its scripts' errors, and requests that leave it."""
    problems = []
    page.on("pageerror", lambda error: problems.append(f"script: {error}"))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("file:", "data:", "blob:"))
            else problems.append(f"request: {request.url}")
        ),
    )
    return problems
