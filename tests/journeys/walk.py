"""A person who uses the app by clicks alone: each step has words and, on request, a picture."""

import base64
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

QUALITY = 62
CLIPPED, OVERLAPPING, TABBED = (
    (Path(__file__).parent / f"{name}.js").read_text(encoding="utf-8")
    for name in ("clipped", "overlapping", "tabbed")
)
SETTLED = "[data-testid=stApp][data-test-script-state=notRunning]"
SIDEWAYS = (
    "[document.documentElement, document.querySelector('[data-testid=stMain]')].map(e => "
    "e.scrollWidth - e.clientWidth)"
)
IN_VIEW = """e => {
  const { top, bottom } = e.getBoundingClientRect();
  if (top < 60 || bottom > innerHeight) e.scrollIntoView({ block: 'center' });
}"""
# The paths of this checkout and its cache are private: each is shortened in what the picture
# shows, also where it is cut.
SHORTEN = """places => {
  const short = text => places.reduce((now, [path, name]) => {
    const head = now.split('…')[0].trim();
    return now.includes('…') && head.length > 4 && path.startsWith(head) ? now.replace(head, name + '/') : now.replaceAll(path, name);
  }, text);
  const visit = root => {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) { const n = texts.currentNode, s = short(n.data); if (s !== n.data) n.data = s; }
    root.querySelectorAll('*').forEach(e => { if (e.shadowRoot) visit(e.shadowRoot); });
    root.querySelectorAll('input').forEach(e => { const s = short(e.value); if (s !== e.value) e.value = s; });
  };
  visit(document.body);
}"""
HEAD = """\
# Six journeys

Each begins at the address that `make run` prints and goes on by clicks alone, on the directories of
`sample_data`. The pictures are made by `make journeys`, which runs
`tests/journeys/test_journeys.py` and fails where a step does not lead on.
"""


@dataclass
class Album:
    """The pictures of all journeys, and the page that shows them in order."""

    folder: Path
    places: list[tuple[str, str]]  # paths, and their names in a picture
    walks: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def add(self, title: str, words: str, picture: bytes) -> None:
        steps = self.walks.setdefault(title, [])
        name = f"{re.sub('[^a-z0-9]+', '-', title.split(':')[0].lower())}-{len(steps) + 1}.webp"
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_bytes(picture)
        steps.append((words, name))

    def write(self) -> None:
        """Writes README.md: one heading per journey, one line and one picture per step."""
        lines = [HEAD]
        for title, steps in self.walks.items():
            lines.append(f"## {title}\n")
            lines += [
                f"{number}. {words}\n\n   ![{words}]({name})\n"
                for number, (words, name) in enumerate(steps, 1)
            ]
        (self.folder / "README.md").write_text("\n".join(lines), encoding="utf-8")


@dataclass
class Walk:
    page: "Page"
    title: str
    album: Album | None = None

    def step(self, words: str, at: "Locator | None" = None) -> None:
        """Checks that the page at rest shows no exception and does not scroll sideways, and takes
        its picture with `at` in it.
        """
        self.page.locator(SETTLED).wait_for()
        assert self.page.locator("[data-testid=stException]").count() == 0, words
        assert max(self.page.evaluate(SIDEWAYS)) <= 0, words
        if self.album:
            self.page.wait_for_timeout(700)  # charts and fonts paint after the script has ended
            if at:
                at.evaluate(IN_VIEW)
            self.page.evaluate(SHORTEN, self.album.places)
            self.album.add(self.title, words, self._picture())

    def _picture(self) -> bytes:
        """Returns the window as WebP."""
        session = self.page.context.new_cdp_session(self.page)
        answer = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
        return base64.b64decode(answer["data"])

    # ---- what a person does

    def to(self, name: str) -> None:
        """Goes to another page by the sidebar."""
        self.page.locator(".st-key-kv_nav a", has_text=name).click()

    def sees(self, text: str) -> "Locator":
        element = self.page.get_by_text(text).locator("visible=true").first
        element.wait_for()
        return element

    def titled(self, text: str) -> None:
        self.page.locator("h1", has_text=text).first.wait_for()
        self.page.locator(SETTLED).wait_for()

    def presses(self, name: str, role: str = "button") -> None:
        """Clicks a button, a link or an option by its name."""
        self.page.locator(SETTLED).wait_for()  # a page that is still being drawn may lose a click
        self.page.get_by_role(role, name=name).first.click()

    def shows(self, selector: str, text: str | None = None) -> "Locator":
        """Waits for an element by a selector, also in the components' shadow roots."""
        element = self.page.locator(selector, has_text=text).first
        element.wait_for()
        self.page.locator(SETTLED).wait_for()  # until then it may be redrawn
        element.wait_for()
        element.evaluate(IN_VIEW)
        return element

    def opens(self, directory: str) -> None:
        """Opens another broker directory from the first picker of the bar."""
        self.page.locator(SETTLED).wait_for()
        self.page.locator(".st-key-kv_pick_dir button:visible").first.click()
        self.page.get_by_text(directory).locator("visible=true").last.click()
        self.page.locator(".st-key-kv_pick_dir button", has_text=directory).first.wait_for()
        # until then the sidebar leads back to the directory before
        self.page.locator(SETTLED).wait_for()
