// Makes each change one step of the browser's history. Streamlit 1.67 changes pages in two steps:
// the current page gets the parameters of the other one, then the other page opens. Back would stop
// in between, at an address that the reader never chose. So the second step replaces the first,
// unless this page was drawn at that address. If one choice changes several parameters, steps
// within TOGETHER_MS are merged. A change of language adds no step: it only replaces `lang` in the
// current address, which keeps what the browser wrote there.
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
