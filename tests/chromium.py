"""The system's Chromium, which is no Python package, for tests that look at a page."""

import shutil
from contextlib import contextmanager

import pytest
from playwright.sync_api import sync_playwright

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
