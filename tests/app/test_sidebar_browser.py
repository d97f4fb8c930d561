"""The sidebar and Go to in a real browser: no click is lost during a rerun."""

import pytest

from kafkaviz.app import access
from tests.journeys.walk import SETTLED
from tests.support.browser import heading, hold_back

pytestmark = pytest.mark.browser
# its script comes by itself, and may come after the page's title
LISTENS = "window.__kafkaviz_sidebar?.listens"
SETTLED_MS = 1500  # after that only the reader causes a rerun
CURRENT = ".st-key-kv_nav a[aria-current=page]"

AT_ONCE = """name => { const timer = setInterval(() => {
  if (!new URL(location).searchParams.get('dir')?.endsWith(name)) return;
  clearInterval(timer);
  [...document.querySelectorAll('.st-key-kv_nav a')].find(link => link.pathname === '/health').click();
}, 5); }"""


@pytest.mark.nightly
def test_a_press_holds_while_its_link_is_drawn_again(server, page):
    """The button is released on the link's replacement, which browsers do not count as a click."""
    page.goto(server)
    heading(page, "37 topic-partitions")
    page.wait_for_function(LISTENS)
    link = page.locator(".st-key-kv_nav a", has_text="Health")
    link.hover()
    page.mouse.down()
    link.evaluate("link => link.replaceWith(link.cloneNode(true))")
    page.mouse.up()
    page.wait_for_url("**/health?**")
    heading(page, "Health")
    assert page.locator(CURRENT).inner_text().endswith("Health")


@pytest.mark.nightly
def test_a_press_holds_while_there_is_no_sidebar(server, page):
    """It counts where the link was and will be."""
    page.goto(server)
    heading(page, "37 topic-partitions")
    page.wait_for_function(LISTENS)
    link = page.locator(".st-key-kv_nav a", has_text="Rolls")
    link.hover()
    page.evaluate("document.querySelector('[data-testid=stSidebar]').style.display = 'none'")
    page.evaluate(
        "document.querySelectorAll('.st-key-kv_nav').forEach(nav => "
        "nav.classList.replace('st-key-kv_nav', 'away'))"
    )
    page.mouse.down()
    page.mouse.up()
    page.evaluate(
        "document.querySelectorAll('.away').forEach(nav => nav.classList.replace('away', "
        "'st-key-kv_nav'))"
    )
    page.wait_for_url("**/rolls?**")
    heading(page, "Rolls")
    assert page.locator(CURRENT).inner_text().endswith("Rolls")


def test_the_current_page_is_marked_and_a_click_on_the_broker_page_stays_there(server, page):
    """However late the links are drawn: their script is fetched after the page began to show.

    Streamlit's link to the Broker page names no page.
    """
    release = hold_back(page, "**/PageLink.*.js")
    page.goto(f"{server}/health")
    heading(page, "Health")
    page.wait_for_function(LISTENS)
    page.locator(SETTLED).wait_for()
    assert page.locator(".st-key-kv_nav a").count() == 0
    release()
    assert page.locator(CURRENT).inner_text().endswith("Health")
    page.locator(".st-key-kv_nav a", has_text="Broker").click()
    heading(page, "37 topic-partitions")
    page.locator(SETTLED).wait_for()
    page.wait_for_timeout(SETTLED_MS)
    heading(page, "37 topic-partitions")
    assert page.evaluate("location.pathname") == "/"


def test_a_click_right_after_another_directory_leads_there(server, page):
    """While an archive is unpacked, the sidebar still shows the links of the directory before."""
    archive = next(path for path in access.samples() if "killed" in path.name)
    page.goto(server)
    heading(page, "37 topic-partitions")
    field = page.locator(".st-key-kv_path input")
    field.fill(str(archive))
    page.evaluate(AT_ONCE, archive.name)
    field.press("Enter")
    page.wait_for_url("**/health?**")
    heading(page, "Health")
    assert archive.name in page.url


COLUMNS = """() => {
  const find = root => [...root.querySelectorAll('*')].map(e => e.shadowRoot ? find(e.shadowRoot) : e.matches('.two') && e).find(Boolean);
  const two = find(document);
  return two ? getComputedStyle(two).gridTemplateColumns.split(' ').length : 0;
}"""


def test_a_narrow_window_folds_its_sidebar(server, page):
    """At 1024 px, by its button and by a key; the stepper's code fits next to the slots always."""
    page.set_viewport_size({"width": 1024, "height": 768})
    page.goto(f"{server}/lookup?tp=orders-0&by=timestamp&step=6")
    page.wait_for_function(f"({COLUMNS})() === 2")
    page.locator("[data-testid=stSidebarCollapseButton] button").click()
    page.locator("[data-testid=stExpandSidebarButton]").wait_for()
    page.wait_for_function(f"({COLUMNS})() === 2")
    page.wait_for_function(
        "document.querySelector('[data-testid=stSidebar]').getBoundingClientRect().right < 1"
    )
    unfold = page.locator("[data-testid=stExpandSidebarButton]")
    unfold.focus()
    page.keyboard.press("Enter")
    page.locator(".st-key-kv_nav a", has_text="Health").wait_for()
    page.wait_for_function(f"({COLUMNS})() === 2")
    assert page.locator(".st-key-kv_nav a", has_text="Health").is_visible()


@pytest.mark.parametrize(
    ("typed", "address", "title"),
    [
        (
            "the thread that answers requests",
            "workshop?**lesson=warm-section**at=1",
            "An index is read",
        ),
        pytest.param(
            "kafka 6432",
            "workshop?**lesson=warm-section**at=1",
            "An index is read",
            marks=pytest.mark.nightly,
        ),
        pytest.param(
            "log.index.interval.bytes", "tuning?**tab=Index", "Tuning", marks=pytest.mark.nightly
        ),
    ],
)
def test_enter_opens_a_setting_an_issue_and_a_text_of_a_lesson(server, page, typed, address, title):
    page.goto(f"{server}/compare")
    heading(page, "Compare")
    page.locator(".st-key-kv_goto button").click()
    field = page.get_by_role("dialog").locator("input")
    field.fill(typed)
    field.press("Enter")
    page.wait_for_url(f"**/{address}**")
    heading(page, title)
    assert page.get_by_role("dialog").count() == 0
