"""A browser for the tests of what is drawn: Debian's Chromium, without a window."""

import shutil

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser():
    """A browser of playwright's; the tests are skipped where there is none."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        pytest.skip("Chromium is not installed")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def open_page(browser):
    """Opens pages, and fails the test if a script fails or a page asks for anything but itself."""
    pages, problems = [], []

    def asked(url, address):
        if url.partition("#")[0] != address.partition("#")[0]:
            problems.append(f"the page asked for {url}")

    def opened(address, **settings):
        page = browser.new_page(**settings)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("request", lambda request: asked(request.url, address))
        pages.append(page)
        page.goto(address)
        return page

    yield opened
    for page in pages:
        page.close()
    assert problems == []
