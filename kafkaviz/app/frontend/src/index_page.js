// Before Streamlit's scripts have drawn anything: a skeleton of the page, in the reader's light or dark; and the scripts of charts and tables
// evaluated while nobody waits for anything else, because Plotly alone takes a second. Streamlit imports the same modules, by the same
// addresses, when it needs them.
const SKELETON = 'kv-wait',
  DRAWN = ['h1', '[data-testid=stSkeleton]', '[data-testid=stException]']
    .map(part => `[data-testid=stMain] ${part}`)
    .concat('[role=dialog]')
    .join(),
  PATIENCE_MS = 15000, // then what Streamlit says of a server that does not answer must be seen
  SERVER_MS = 100, // a page that takes the server longer leaves the browser idle
  REST_MS = 1000; // without a run of the page: a reader looks
const whenIdle = globalThis.requestIdleCallback ?? setTimeout; // Safari has none

/** "light" or "dark", as Streamlit keeps what a reader chose; '' where the system decides. */
export function chosenMode(stored) {
  const name = stored?.match(/"(light|dark)\b/i);
  return name ? name[1].toLowerCase() : '';
}

function showSkeleton(skeleton) {
  skeleton.style.colorScheme = chosenMode(
    localStorage.getItem(`stActiveTheme-${location.pathname}-v2`),
  );
  const look = () => {
    if (document.querySelector(DRAWN) || performance.now() > PATIENCE_MS) skeleton.remove();
    else requestAnimationFrame(look);
  };
  look();
}

function evaluateScripts(addresses, firstCharts) {
  window.__kafkaviz_idle_scripts = addresses;
  let state = null,
    since = performance.now(); // when the page's run began, or ended
  const evaluateNext = async () => {
    if (!addresses.length) return;
    await import(addresses[0]).catch(() => {}); // then Streamlit says so, when it needs it
    addresses.shift();
    whenIdle(evaluateNext);
  };
  const waitForTime = () => {
    const app = document.querySelector('[data-testid=stApp]'),
      now = performance.now(),
      before = state;
    state = app?.getAttribute('data-test-script-state');
    if (state !== before) since = now;
    const serverWorks =
      firstCharts && state === 'running' && document.getElementById(SKELETON) !== null;
    if (serverWorks && now - since > SERVER_MS) evaluateNext();
    else if (state === 'notRunning' && now - since > REST_MS) whenIdle(evaluateNext);
    else setTimeout(waitForTime, SERVER_MS / 4);
  };
  waitForTime();
}

export default function start() {
  const skeleton = document.getElementById(SKELETON),
    { scripts, charts } = skeleton.dataset;
  showSkeleton(skeleton);
  // beside Streamlit's first script, wherever the app is mounted
  const entry = /** @type {HTMLScriptElement | null} */ (
    document.querySelector('script[type=module][src*="static/js/"]')
  );
  if (entry)
    evaluateScripts(
      scripts.split(' ').map(script => new URL(script, entry.src).href),
      charts !== undefined,
    );
}

if (globalThis.document) start();
