// Evaluates Streamlit's scripts of charts and tables while the page is at rest, so that a later page with a chart need only draw it: Plotly
// alone takes a second. Streamlit imports the same modules, by the same addresses, when it needs them.
const REST_MS = 1000; // without a run of the page: a reader looks
const whenIdle = window.requestIdleCallback ?? setTimeout; // Safari has none

export default function ({ data: { scripts } }) {
  if (window.__kafkaviz_idle_scripts) return;
  // beside Streamlit's first script, wherever the app is mounted
  const entry = /** @type {HTMLScriptElement | null} */ (
    document.querySelector('script[type=module][src*="static/js/"]')
  );
  if (!entry) return;
  const addresses = scripts.map(script => new URL(script.replace(/^.*\//, ''), entry.src).href);
  window.__kafkaviz_idle_scripts = addresses;
  let restingSince = performance.now();
  const waitForRest = () => {
    const app = document.querySelector('[data-testid=stApp]');
    const now = performance.now();
    if (app?.getAttribute('data-test-script-state') !== 'notRunning') restingSince = now;
    if (now - restingSince < REST_MS) setTimeout(waitForRest, REST_MS / 10);
    else whenIdle(evaluateNext);
  };
  const evaluateNext = async () => {
    if (!addresses.length) return;
    await import(addresses[0]).catch(() => {}); // then Streamlit says so, when it needs it
    addresses.shift();
    whenIdle(evaluateNext);
  };
  waitForRest();
}
