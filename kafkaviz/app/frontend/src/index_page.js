// Runs before Streamlit's scripts have drawn anything: shows a skeleton of the page in the reader's
// theme, and evaluates the scripts of charts and tables while the browser is idle, because Plotly
// alone takes a second. Streamlit later imports the same modules from the same addresses.
const SKELETON = 'kv-wait',
  DRAWN = ['h1', '[data-testid=stSkeleton]', '[data-testid=stException]']
    .map(part => `[data-testid=stMain] ${part}`)
    .concat('[role=dialog]')
    .join(),
  // after that, Streamlit's message about a server that does not answer must be visible
  PATIENCE_MS = 15000,
  LOOK_MS = 25,
  REST_MS = 1000; // without a run of the page for so long, the reader is looking at it
// Safari does not have requestIdleCallback
const whenIdle = globalThis.requestIdleCallback ?? setTimeout;

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

function evaluateScripts(addresses) {
  window.__kafkaviz_idle_scripts = addresses;
  let state = null,
    since = performance.now(); // time at which the page's run began or ended
  const evaluateNext = async () => {
    if (!addresses.length) return;
    // Streamlit reports the error when it needs the script
    await import(addresses[0]).catch(() => {});
    addresses.shift();
    whenIdle(evaluateNext);
  };
  const waitForTime = () => {
    const app = document.querySelector('[data-testid=stApp]'),
      now = performance.now(),
      before = state;
    state = app?.getAttribute('data-test-script-state');
    if (state !== before) since = now;
    if (state === 'notRunning' && now - since > REST_MS) whenIdle(evaluateNext);
    else setTimeout(waitForTime, LOOK_MS);
  };
  waitForTime();
}

export default function start() {
  const skeleton = document.getElementById(SKELETON),
    { scripts } = skeleton.dataset;
  showSkeleton(skeleton);
  // the addresses are relative to Streamlit's first script, wherever the app is mounted
  const entry = /** @type {HTMLScriptElement | null} */ (
    document.querySelector('script[type=module][src*="static/js/"]')
  );
  if (entry) evaluateScripts(scripts.split(' ').map(script => new URL(script, entry.src).href));
}

if (globalThis.document) start();
