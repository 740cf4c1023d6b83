"""The page in a real browser: alone, narrow and wide, light and dark, by keyboard, printed.

Needs Chromium (Debian: `apt-get install chromium`), Playwright's Python package, and axe-core
(`npm install --prefix ~/.cache/deermem axe-core`, or its file in DEERMEM_AXE_PATH). Where one is
absent the tests are skipped, or fail if DEERMEM_REQUIRE_BROWSER is set. DEERMEM_SCREENSHOTS names a
folder to keep the screenshots in.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

MakeRun = Callable[..., Path]
HtmlOf = Callable[[Path], str]

WIDTHS = (360, 768, 1280)
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_AXE = Path.home() / ".cache/deermem/node_modules/axe-core/axe.min.js"

# A name in every place that a run's files leave to others, and predictions of every unkind sort.
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=https://example.org/x.png onerror=alert(1)>',
    "\u202eright to left\u202c \u200f שלום عليكم",
    "x" * 100_000,
    "Z\u0351\u036b\u0343\u036a\u0302" * 50,
    "<style>*{display:none}</style><link rel=stylesheet href=//example.org>",
)


def _missing(reason: str) -> None:
    if os.environ.get("DEERMEM_REQUIRE_BROWSER"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium, driven by Playwright."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        _missing("needs Playwright: pip install playwright")
    executable = next(filter(None, map(shutil.which, _CHROMIUM)), None)
    if executable is None:
        _missing("needs Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=executable,
            args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
        )
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def axe() -> str:
    """The source of axe-core."""
    path = Path(os.environ.get("DEERMEM_AXE_PATH", _AXE))
    if not path.is_file():
        _missing(f"needs axe-core at {path}: npm install --prefix ~/.cache/deermem axe-core")
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def pages(
    tmp_path_factory: pytest.TempPathFactory, demo_run: Path, make_run: MakeRun, page_text: HtmlOf
) -> dict[str, Path]:
    """Reports on disk: a real run, a policy run alone, four policies, and hostile text."""
    runs = {
        "demo": demo_run,
        "policy": make_run(qa_run=False, selector="reference"),
        "four": make_run(cases=45, policies=("first", "second", "third", "fourth"), truncated=True),
        "hostile": make_run(
            cases=30,
            provider="lexical-reader-v1",
            predict=lambda i, p: HOSTILE[(i + p) % len(HOSTILE)],
            policies=("first", "a" * 300),
        ),
    }
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for name, run in runs.items():
        made[name] = folder / f"{name}.html"
        made[name].write_text(page_text(run), encoding="utf-8")
    return made


class Opened:
    """A page on the screen, and what it did that it must not do."""

    def __init__(self, browser: Any, path: Path, width: int, scheme: str = "light") -> None:
        self.context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        self.page = self.context.new_page()
        self.said: list[str] = []
        # What is asked for, and what of it the page's own policy forbade.
        self.asked: list[str] = []
        self.forbidden: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", self._note_dialog)
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("requestfailed", self._note_failure)
        self.page.goto(path.as_uri())

    def _note_dialog(self, dialog: Any) -> None:
        self.said.append(dialog.message)
        dialog.dismiss()

    def _note_failure(self, request: Any) -> None:
        if request.failure == "csp":
            self.forbidden.append(request.url)

    def __enter__(self) -> Opened:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


@pytest.mark.parametrize(
    ("name", "width"),
    [
        *((name, width) for name in ("demo", "hostile") for width in WIDTHS),
        ("policy", 360),
        ("four", 360),
    ],
)
def test_it_fits_and_keeps_to_itself(
    browser: Any,
    pages: dict[str, Path],
    tmp_path: Path,
    name: str,
    width: int,
) -> None:
    """No scrolling sideways, no word on the console, no request but for the file itself."""
    with Opened(browser, pages[name], width) as opened:
        wide = opened.page.evaluate("document.documentElement.scrollWidth")
        assert width == wide
        assert [] == opened.said
        assert [pages[name].as_uri()] == [url for url in opened.asked if url != "data:,"]
        # What is wider than its place scrolls within it, and can be reached by keyboard.
        hidden = opened.page.evaluate(
            """[...document.querySelectorAll("main *")].filter((element) => {
                const style = getComputedStyle(element);
                return element.scrollWidth > element.clientWidth + 1
                    && style.overflowX === "auto" && element.tabIndex !== 0;
            }).map((element) => element.outerHTML.slice(0, 100))"""
        )
        assert [] == hidden
        kept = Path(os.environ.get("DEERMEM_SCREENSHOTS", tmp_path))
        for scheme in ("light", "dark") if name == "demo" else ("light",):
            opened.page.emulate_media(color_scheme=scheme)
            shot = kept / f"{name}-{width}-{scheme}.png"
            opened.page.screenshot(path=shot, full_page=True)
            assert shot.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("name", "width", "scheme"),
    [
        ("demo", 1280, "light"),
        ("demo", 1280, "dark"),
        ("demo", 360, "light"),
        ("policy", 1280, "dark"),
        ("four", 1280, "light"),
        ("hostile", 1280, "light"),
        ("hostile", 360, "dark"),
    ],
)
def test_axe_finds_nothing(
    browser: Any, axe: str, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    """Every rule of axe-core, best practices included, in light and dark."""
    with Opened(browser, pages[name], width, scheme) as opened:
        opened.page.evaluate(axe)
        result = opened.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert [] == [
            (violation["id"], node["target"], node.get("failureSummary"))
            for violation in result["violations"]
            for node in violation["nodes"]
        ]
        assert len(result["passes"]) > 20


def test_tables_are_sorted_by_keyboard(browser: Any, pages: dict[str, Path]) -> None:
    """Enter sorts upwards, again downwards, by value and not by text; the heading says so."""
    with Opened(browser, pages["demo"], 1280) as opened:
        page = opened.page
        table = page.locator("#differences table")
        column = table.locator("thead th").nth(2)
        button = column.locator("button")
        before = table.locator("tbody tr").all_inner_texts()
        assert column.get_attribute("aria-sort") is None
        button.focus()
        for key, order in (("Enter", "ascending"), ("Space", "descending")):
            page.keyboard.press(key)
            assert order == column.get_attribute("aria-sort")
            values = table.locator("tbody td:nth-child(3) data").evaluate_all(
                "found => found.map(one => Number(one.value))"
            )
            assert values == sorted(values, reverse=order == "descending")
            assert len(before) == len(values)
        other = table.locator("thead th").nth(0)
        other.locator("button").press("Enter")
        assert "ascending" == other.get_attribute("aria-sort")
        assert column.get_attribute("aria-sort") is None
        names = table.locator("tbody th").all_inner_texts()
        assert names == sorted(names)
        assert sorted(before) == sorted(table.locator("tbody tr").all_inner_texts())


def test_every_sortable_table_sorts(browser: Any, pages: dict[str, Path]) -> None:
    """Each column of each, also those of answers, without an error."""
    with Opened(browser, pages["four"], 1280) as opened:
        orders = opened.page.locator("table[data-sortable] thead button").evaluate_all(
            "all => all.map(button => { button.click(); return button.parentNode.ariaSort; })"
        )
        assert len(orders) > 30
        assert {"ascending"} == set(orders)
        assert [] == opened.said


def test_the_first_stop_of_the_keyboard_skips_to_the_answer(
    browser: Any, pages: dict[str, Path]
) -> None:
    """The link is seen when it is reached, and leads into the main part."""
    with Opened(browser, pages["demo"], 1280) as opened:
        page = opened.page
        page.keyboard.press("Tab")
        focused = page.locator(":focus")
        assert "Skip to the answer" == focused.inner_text()
        assert focused.bounding_box()["x"] >= 0
        page.keyboard.press("Enter")
        assert "main" == page.evaluate("document.activeElement.id")


def test_every_link_leads_to_a_section(browser: Any, pages: dict[str, Path]) -> None:
    """The list of contents names all sections, in order."""
    with Opened(browser, pages["demo"], 1280) as opened:
        links = opened.page.locator("nav a").evaluate_all("all => all.map(a => a.hash.slice(1))")
        sections = opened.page.locator("main > section").evaluate_all("all => all.map(s => s.id)")
        assert links == sections
        assert 9 == len(sections)


def test_hostile_text_is_seen_as_text(browser: Any, pages: dict[str, Path]) -> None:
    """No element of it exists, nothing of it ran; it is there to be read."""
    with Opened(browser, pages["hostile"], 360) as opened:
        assert [] == opened.said
        assert 0 == opened.page.locator("img, link[rel=stylesheet]").count()
        assert 1 == opened.page.locator("script").count()
        text = opened.page.locator("main").inner_text()
        for hostile in (HOSTILE[0], HOSTILE[1], HOSTILE[5]):
            assert hostile in text
        assert "⟨U+202E⟩right to left⟨U+202C⟩" in text


def test_the_policy_against_foreign_code_holds(browser: Any, pages: dict[str, Path]) -> None:
    """What would be added to the page, neither runs nor is fetched nor styled."""
    with Opened(browser, pages["demo"], 1280) as opened:
        opened.page.evaluate(
            """() => {
                const script = document.createElement("script");
                script.textContent = "window.ran = true";
                document.body.append(script);
                const image = document.createElement("img");
                image.src = "https://example.org/x.png";
                document.body.append(image);
            }"""
        )
        assert opened.page.evaluate("window.ran") is None
        assert 2 == sum("Content Security Policy" in line for line in opened.said)
        # Playwright reports also what the browser refuses to ask for.
        assert ["https://example.org/x.png"] == opened.forbidden
        assert [pages["demo"].as_uri(), *opened.forbidden] == [
            url for url in opened.asked if url != "data:,"
        ]


def test_dark_mode_changes_the_plots_too(browser: Any, pages: dict[str, Path]) -> None:
    """Their ink is the page's; none of their colours is its own."""
    inks = {}
    for scheme in ("light", "dark"):
        with Opened(browser, pages["demo"], 1280, scheme) as opened:
            ink = opened.page.evaluate(
                """() => [getComputedStyle(document.querySelector("svg text.f-ink")).fill,
                          getComputedStyle(document.body).color]"""
            )
            assert ink[0] == ink[1]
            inks[scheme] = ink[0]
            own = opened.page.locator("svg [fill^='#'], svg [stroke^='#'], svg [style]").count()
            assert 0 == own
    assert inks["light"] != inks["dark"]


def test_without_scripts_everything_is_there(browser: Any, pages: dict[str, Path]) -> None:
    """The script adds sorting; it takes nothing away where it may not run."""
    context = browser.new_context(java_script_enabled=False, viewport={"width": 800, "height": 900})
    page = context.new_page()
    page.goto(pages["demo"].as_uri())
    assert 0 == page.locator("button").count()
    assert 9 == page.locator("main > section").count()
    assert page.locator("#differences table thead th").nth(2).inner_text().startswith("Difference")
    context.close()


def test_it_prints(browser: Any, pages: dict[str, Path], tmp_path: Path) -> None:
    """On paper nothing is cut off at the right, and what only a screen needs is gone."""
    with Opened(browser, pages["demo"], 700) as opened:
        opened.page.emulate_media(media="print")
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 700
        assert not opened.page.locator("nav").is_visible()
        pdf = opened.page.pdf(format="A4")
        (Path(os.environ.get("DEERMEM_SCREENSHOTS", tmp_path)) / "demo.pdf").write_bytes(pdf)
        assert pdf.startswith(b"%PDF")
        assert 3 < pdf.count(b"/Type /Page\n") < 30
