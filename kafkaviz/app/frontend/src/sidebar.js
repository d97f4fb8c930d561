// Streamlit redraws the sidebar with every page. Between press and release a link may disappear or
// be replaced, and then the browser sends no click. While another directory opens, the links still
// lead to the previous one. So a press is kept until the right link exists.
import { hasModifier } from './dom.js';

const PATIENCE_MS = 30000,
  STEP_MS = 40,
  RESTED = 6,
  STILL = 25;
export default function () {
  const own = (window.__kafkaviz_sidebar ??= { places: [] });
  const links = () => [
    .../** @type {NodeListOf<HTMLAnchorElement>} */ (document.querySelectorAll('.st-key-kv_nav a')),
  ];
  // The Broker link is "?dir=…", which the browser resolves against the current page. Its real path
  // is the folder of all pages.
  const path = a => new URL(a.getAttribute('href') ?? '', new URL('.', location.href)).pathname,
    directories = address => new URL(address).searchParams.getAll('dir').join('\0');
  const running = () =>
    document.querySelector('[data-testid=stApp]')?.getAttribute('data-test-script-state') ===
    'running';
  const old = a =>
    directories(location.href) !== '' && directories(a.href) !== directories(location.href);
  // visible ones only: a new sidebar may exist before it is shown
  const visibleLinks = () => links().filter(a => a.getClientRects().length);
  own.measure = () => {
    const all = visibleLinks();
    // a folded sidebar has no visible links, and old positions would be wrong
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
  // There are short pauses between two runs. A link to another directory counts only after the page
  // has been still for a while.
  const go = (target, still, until) => {
    const link = links().find(a => path(a) === target),
      rests = running() ? 0 : still + 1;
    if (target !== own.target) return;
    if (!link || (old(link) && rests < STILL))
      return performance.now() < until && setTimeout(go, STEP_MS, target, rests, until);
    own.target = null;
    own.isConfirmed = true; // for this click only
    link.click();
    own.isConfirmed = false;
  };
  // A page that is being drawn may miss the click. If everything rests and the page has not
  // changed, the click is repeated, up to three times.
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
  const listeners = {
    keydown: other,
    pointerover: e => {
      if (e.target.closest?.('.st-key-kv_nav')) own.measure();
    },
    pointerdown: e => {
      own.measure();
      other();
      own.pressed = e.button || hasModifier(e) || e.shiftKey ? null : (under(e) ?? null);
    },
    pointerup: e => {
      if (own.pressed && under(e) === own.pressed) soon(own.pressed);
      own.pressed = null;
    },
    click: e => {
      const link = e.target.closest?.('.st-key-kv_nav a');
      if (!link || hasModifier(e) || e.shiftKey) return;
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
  };
  addEventListener('popstate', other);
  for (const [name, act] of Object.entries(listeners)) document.addEventListener(name, act, true);
}
