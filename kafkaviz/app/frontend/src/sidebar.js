// The sidebar is drawn anew with every page. A link that is pressed may be gone, or another of the same place be there, when it is let go:
// the browser tells nobody of a click then. And until another directory is open the links lead to the one before. So a press is kept until
// the link is there that leads where its reader wants to go.
const PATIENCE_MS = 30000,
  STEP_MS = 40,
  RESTED = 6,
  STILL = 25;
export default function () {
  const own = (window.__kafkaviz_sidebar ??= { places: [] });
  const links = () => [
    .../** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll('.st-key-kv_nav a')),
  ];
  // Streamlit's link to the Broker page is "?dir=…", which means the page that is shown: its own place is the folder of all pages
  const path = a => new URL(a.getAttribute('href') ?? '', new URL('.', location.href)).pathname,
    directories = address => new URL(address).searchParams.getAll('dir').join('\0');
  const running = () =>
    document.querySelector('[data-testid=stApp]')?.getAttribute('data-test-script-state') ===
    'running';
  const old = a =>
    directories(location.href) !== '' && directories(a.href) !== directories(location.href);
  const visibleLinks = () => links().filter(a => a.getClientRects().length); // those that are drawn: a sidebar that comes may be there before it shows
  own.measure = () => {
    const all = visibleLinks();
    // a page that folds the sidebar has no links where they were
    if (all.length || document.querySelector('.kv-folded'))
      own.places = all.map(a => [path(a), a.getBoundingClientRect()]);
  };
  own.measure();
  if (own.listens) return;
  own.listens = true;
  const under = e => {
    const link = e.target.closest?.('.st-key-kv_nav a');
    if (link || visibleLinks().length) return link && path(link);
    return own.places.find(
      ([, box]) =>
        e.clientX >= box.left &&
        e.clientX < box.right &&
        e.clientY >= box.top &&
        e.clientY < box.bottom,
    )?.[0];
  };
  // Between two runs nothing runs for a moment: only where all has been still for a while is a link of another directory meant as it is.
  const go = (target, still, until) => {
    const link = links().find(a => path(a) === target),
      rests = running() ? 0 : still + 1;
    if (target !== own.target) return;
    if (!link || (old(link) && rests < STILL))
      return performance.now() < until && setTimeout(go, STEP_MS, target, rests, until);
    own.target = null;
    own.isConfirmed = true; // once
    link.click();
    own.isConfirmed = false;
  };
  // A page that is being drawn may not hear of it either: where all is at rest elsewhere it was lost, and is said again, up to three times.
  const arrive = (sent, rested, until, left = 3) => {
    if (
      sent !== own.sent ||
      sent === null ||
      location.pathname === sent ||
      performance.now() > until
    )
      return;
    const rests = running() ? 0 : rested + 1;
    if (rests < RESTED) return setTimeout(arrive, 2 * STEP_MS, sent, rests, until, left);
    own.again = true;
    links()
      .find(a => path(a) === sent)
      ?.click();
    own.again = false;
    own.sent = left > 1 ? sent : null;
    setTimeout(arrive, 2 * STEP_MS, sent, 0, until, left - 1);
  };
  const soon = target => {
    own.target = target;
    setTimeout(go, STEP_MS, target, 0, performance.now() + PATIENCE_MS);
  };
  const other = () => {
    own.target = own.sent = null;
  };
  addEventListener('popstate', other);
  document.addEventListener('keydown', other, true);
  document.addEventListener(
    'pointerover',
    e => {
      if (/** @type {Element} */ (e.target).closest?.('.st-key-kv_nav')) own.measure();
    },
    true,
  );
  document.addEventListener(
    'pointerdown',
    e => {
      own.measure();
      other();
      own.pressed =
        e.button || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey ? null : (under(e) ?? null);
    },
    true,
  );
  document.addEventListener(
    'pointerup',
    e => {
      if (own.pressed && under(e) === own.pressed) soon(own.pressed);
      own.pressed = null;
    },
    true,
  );
  document.addEventListener(
    'click',
    e => {
      const link = /** @type {Element} */ (e.target).closest?.('.st-key-kv_nav a');
      if (!link || e.ctrlKey || e.metaKey || e.shiftKey || e.altKey) return;
      own.target = null;
      if (own.isConfirmed || !old(link)) {
        if (own.again) return;
        own.sent = path(link);
        return setTimeout(arrive, RESTED * STEP_MS, own.sent, 0, performance.now() + PATIENCE_MS);
      }
      e.preventDefault();
      e.stopImmediatePropagation();
      soon(path(link));
    },
    true,
  );
}
