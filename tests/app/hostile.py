"""A broker directory whose names and texts try to become more than text on a page."""

from pathlib import Path
from urllib.parse import quote

from kafkaviz.format import record
from tests.pipeline.whole_logs import framed, write

HTML = "<img src=x onerror=window.pwned=1 class=evil><b class=evil>evilbold</b>"
MARKUP = (
    ":red[evilred] $evil^2$ **evilbold** _evilbold_ `evilcode` "
    "[evillink](javascript:window.pwned=1) :smile: ~~evilgone~~"
)
SLASHES = (
    "[evillink](https://evil.example) :material/skull: <script>window.pwned=1</script> </div></td>"
    "<h1 class=evil>"
)
NAME = f"{HTML} {MARKUP}"  # of files and directories, which have no slash
SAFE_NAME = NAME.replace("/", "\u2215")
TEXT = f"{HTML} {MARKUP} {SLASHES} \u202e \x1b[31m \x00"
START_MS = 1_790_000_000_000

TP = f"{SAFE_NAME[:180]}-0"
PAGES = {
    "Broker": ("", {}),
    "Broker, filtered": ("", {"filter": TEXT[:-5]}),
    "Segment": ("segment", {"tp": TP, "pin": "12"}),
    "Segment, Bytes": ("segment", {"tp": TP, "pin": "12", "tab": "Bytes"}),
    "Segment, a file beside it": (
        "segment",
        {"tp": TP, "tab": "Bytes", "file": f"{SAFE_NAME[:200]}.txt"},
    ),
    "Segment, not there": ("segment", {"tp": TEXT[:-5], "segment": HTML}),
    "Lookup": ("lookup", {"tp": TP, "target": "12"}),
    "Lookup, of nonsense": (
        "lookup",
        {"tp": TP, "target": HTML, "keys": TEXT[:-5], "set": "typed"},
    ),
    "Page cache": ("page_cache", {"tp": TP, "pages": HTML}),
    "Rolls": ("rolls", {"tp": TP, "of": MARKUP, "workload": HTML}),
    "Tuning": ("tuning", {"tp": TP, "consider": HTML}),
    "Tuning, whole broker": ("tuning", {"tune": "Whole broker"}),
    "Health": ("health", {}),
    "Health, of a release": ("health", {"kafka": HTML, "finding": TEXT[:-5]}),
    "Disk": ("disk", {}),
    "Compare": ("compare", {"with": HTML, "tp": MARKUP}),
    "Explore": ("explore", {"sql": f"SELECT topic, '{HTML}' AS \"{MARKUP}\" FROM partitions"}),
    "Explore, refused": ("explore", {"sql": TEXT[:-5]}),
    "Workshop": ("workshop", {"lesson": HTML, "answers": MARKUP}),
}
INJECTED = """
() => {
  const found = [], look = (root) => {
    for (const one of root.querySelectorAll("*")) {
      const text = (one.textContent || "").trim();
      if (one.matches(".evil, .katex, img[src='x']")) found.push(one.outerHTML.slice(0, 200));
      if (one.matches("strong, b, em, del, code, .stMarkdownColoredText, [class*=colored]") && /^evil/.test(text)) found.push(one.outerHTML.slice(0, 200));
      if (one.matches("[data-testid=stIconMaterial]") && text === "skull") found.push(one.outerHTML);
      if (one.matches("a[href]") && (one.protocol === "javascript:" || one.host === "evil.example")) found.push(one.outerHTML.slice(0, 200));
      if (one.shadowRoot) look(one.shadowRoot);
    }
  };
  look(document);
  if (document.body.innerText.includes("\\u{1F604}")) found.push("an emoji");
  if (window.pwned) found.push("a script ran");
  return [...new Set(found)];
}
"""  # what of the texts above became more than text, in all shadow roots


def batch(base_offset: int, count: int) -> bytes:
    text = TEXT.encode()
    bodies = record.build(
        record.Record(
            offset_delta=at, timestamp_delta_ms=at, key=text, value=text, headers=((TEXT, text),)
        )
        for at in range(count)
    )
    return framed(base_offset, bodies, range(START_MS, START_MS + count))


def broker(folder: Path) -> Path:
    path = folder / SAFE_NAME
    path.mkdir()
    ids = "".join(f"{name}={TEXT[:-5]}\n" for name in ("cluster.id", "directory.id", "node.id"))
    (path / "meta.properties").write_text(f"version=1\n{ids}", encoding="utf-8")
    (path / "server.properties").write_text(
        f"node.id={TEXT[:-5]}\nlog.index.interval.bytes={HTML}\n", encoding="utf-8"
    )
    for number in range(2):
        _partition(path / f"{SAFE_NAME[:180]}-{number}")
    (path / "recovery-point-offset-checkpoint").write_text(f"0\n1\n{HTML} x 9\n", encoding="utf-8")
    return path


def _partition(path: Path) -> None:
    stem = write(path, [batch(10 * at, 10) for at in range(5)], interval_bytes=0)
    with open(stem.with_suffix(".log"), "ab") as log:
        log.write(TEXT.encode() * 4)
    (path / f"{SAFE_NAME[:200]}.txt").write_text(TEXT)
    (path / "partition.metadata").write_text(
        f"version: 0\ntopic_id: {TEXT[:-5]}\n", encoding="utf-8"
    )
    (path / "leader-epoch-checkpoint").write_text(f"0\n1\n0 {HTML}\n", encoding="utf-8")


def address(path: str, directory: Path, **query: str) -> str:
    query_fields = {"dir": str(directory)} | query
    return f"{path}?" + "&".join(f"{name}={quote(value)}" for name, value in query_fields.items())
