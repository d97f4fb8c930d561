// Connects a tab to its class. The tab keeps its token in the session storage for a reload, never
// in the address. The teacher's link from `kafkaviz app --class` has the secret in the fragment,
// which browsers do not send to a server, and which is removed from the address bar at once. A
// learner's tab learns about changes of the class by a request that the server answers when the
// class moves on.
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
  own.sent = known; // an invalid token is sent only once
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
      // the server is down or refuses more requests of this token
      await new Promise(resolve => setTimeout(resolve, PAUSE_MS));
    }
  }
}

function stop(own) {
  own.abort?.abort();
  own.abort = null;
}
