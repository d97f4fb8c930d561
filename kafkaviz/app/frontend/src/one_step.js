// Streamlit 1.67 turns to another page in two steps: first the page that is left gets the other's parameters, then the other page comes.
// Back would stop between them, at an address nobody chose and without what the reader had chosen there. Here the second step takes the
// place of the first, unless this page was drawn at that address: then its reader has seen it.
// Likewise one choice may change several parameters, each in a step of its own: those that come together are one.
// Another language is no step: it is put into the address that is shown, with all that the browser wrote there itself.
const TOGETHER_MS = 300;
export default function ({ data }) {
  const own = (window.__kafkaviz_history ??= { between: null, pushedAt: -Infinity });
  const plain = query => new URLSearchParams(query).toString();
  const place = query => {
    const parameters = new URLSearchParams(query);
    parameters.delete('lang');
    return parameters.toString();
  };
  if (own.between && plain(new URL(own.between).search) === plain(data.query)) own.between = null;
  own.known = data.query;
  if (own.push) return;
  own.push = history.pushState.bind(history);
  history.pushState = (state, title, to) => {
    const next = new URL(to ?? '', location.href),
      same = next.pathname === location.pathname;
    const current = new URL(location.href),
      spoken = next.searchParams.get('lang');
    if (
      same &&
      spoken !== current.searchParams.get('lang') &&
      [own.known, current.search].some(query => place(query) === place(next.search))
    ) {
      if (spoken === null) current.searchParams.delete('lang');
      else current.searchParams.set('lang', spoken);
      return history.replaceState(state, title, current);
    }
    const second = !same && own.between === location.href && next.search === location.search;
    const together = same && performance.now() - own.pushedAt < TOGETHER_MS;
    if (!second && !together) own.pushedAt = performance.now();
    if (second || together) history.replaceState(state, title, to);
    else own.push(state, title, to);
    own.between = same ? location.href : null;
  };
}
