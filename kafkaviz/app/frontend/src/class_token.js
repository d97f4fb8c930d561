// Who this tab is in a class, over a reload: kept in its session storage, never in the address. The link that `kafkaviz app --class` prints for
// the teacher has the secret behind a #, which a browser sends to no server; it leaves the address bar at once.
const KEY = 'kafkaviz_class_';

export default function ({ data: { code, token }, setTriggerValue }) {
  const secret = new URLSearchParams(location.hash.slice(1)).get('teach');
  if (secret) {
    sessionStorage.setItem(KEY + code, secret);
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  if (token) {
    sessionStorage.setItem(KEY + code, token);
    return;
  }
  const known = sessionStorage.getItem(KEY + code);
  if (!known || known === window.__kafkaviz_class) return;
  window.__kafkaviz_class = known; // one that is no longer valid is sent once
  setTriggerValue('token', known);
}
