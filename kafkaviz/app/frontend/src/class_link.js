// What ties a tab to a class. Who it is there it keeps over a reload in its session storage, never in the address: the link that
// `kafkaviz app --class` prints for the teacher has the secret behind a #, which a browser sends to no server, and it leaves the address bar at
// once. A learner's tab hears from the server that the class goes on, by a request that is answered when it does.
const KEY = 'kafkaviz_class_',
  FEED = './_kafkaviz/class',
  PAUSE_MS = 2000;

export default function ({ parentElement: root, data, setTriggerValue }) {
  const { code, token, revision, listens } = data,
    own = (window.__kafkaviz_class ??= { sent: null, token: '', revision: 0, abort: null });
  own.trigger = setTriggerValue;
  own.revision = revision;
  if (token !== own.token || !listens) stop(own);
  own.token = token;
  restore(own, code);
  if (listens && !own.abort) listen(own, code);
  return () => {
    if (!root.host.isConnected) stop(own);
  };
}

function restore(own, code) {
  const secret = new URLSearchParams(location.hash.slice(1)).get('teach');
  if (secret) {
    sessionStorage.setItem(KEY + code, secret);
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  if (own.token) {
    sessionStorage.setItem(KEY + code, own.token);
    return;
  }
  const known = sessionStorage.getItem(KEY + code);
  if (!known || known === own.sent) return;
  own.sent = known; // one that is no longer valid is sent once
  own.trigger('token', known);
}

async function listen(own, code) {
  const abort = (own.abort = new AbortController()),
    address = new URL(FEED, document.baseURI);
  while (!abort.signal.aborted) {
    address.search = String(new URLSearchParams({ code, revision: String(own.revision) }));
    try {
      const headers = { 'X-Class-Token': own.token },
        answer = await fetch(address, { headers, signal: abort.signal });
      if (!answer.ok) throw answer;
      const { revision } = await answer.json();
      if (abort.signal.aborted) return;
      if (revision !== own.revision) own.trigger('revision', revision);
      own.revision = revision;
      if (revision < 0) return;
    } catch {
      await new Promise(resolve => setTimeout(resolve, PAUSE_MS)); // the server is away, or has enough of this seat
    }
  }
}

function stop(own) {
  own.abort?.abort();
  own.abort = null;
}
