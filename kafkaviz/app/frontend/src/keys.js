// Keys without a Streamlit button, the mark of the current page, and arrow keys in Go to.
import { hasDialog, hasModifier, isField } from './dom.js';

export default function ({ data, setTriggerValue }) {
  const links = () => [
    .../** @type {NodeListOf<HTMLElement>} */ (
      document.querySelectorAll('[role="dialog"] .st-key-kv_found :is(a, button)')
    ),
  ];
  const walk = (e, results) => {
    const at = results.indexOf(document.activeElement),
      step = e.key === 'ArrowDown' ? 1 : -1;
    const next =
      results[at + step] ??
      (at < 0 ? results[0] : step < 0 ? document.querySelector('[role="dialog"] input') : null);
    if (next) {
      next.focus();
      e.preventDefault();
    }
  };
  // Opens the first result for the typed text. It waits until the results match the text, because a
  // reader may press Enter before they arrive.
  const enter = (field, typed, tries) => {
    /** @type {HTMLElement | null} */
    const answer = document.querySelector('[role="dialog"] .st-key-kv_found [data-asked]');
    if (answer?.dataset.asked === typed) {
      if (answer.dataset.found) links()[0]?.click();
      return;
    }
    if (tries && field.isConnected && field.value === typed)
      setTimeout(() => enter(field, typed, tries - 1), 50);
  };
  const press = e => {
    if (hasModifier(e)) return;
    const results = links();
    if (results.length && (e.key === 'ArrowDown' || e.key === 'ArrowUp')) return walk(e, results);
    if (e.key === 'Enter' && e.target.matches?.('[role="dialog"] .st-key-kv_goto_text input'))
      return enter(e.target, e.target.value, 60);
    if (e.composedPath().some(isField) || hasDialog()) return;
    if (data.listen.includes(e.key)) setTriggerValue('pressed', e.key);
  };
  const mark = () => {
    document.documentElement.lang = data.language;
    document.querySelector('.st-key-kv_nav')?.setAttribute('role', 'navigation');
    document.querySelector('.st-key-kv_nav')?.setAttribute('aria-label', data.words.pages);
    document.querySelector('.st-key-kv_top')?.setAttribute('role', 'navigation');
    document.querySelector('.st-key-kv_top')?.setAttribute('aria-label', data.words.where);
    const current = document.querySelector('.st-key-kv_nav_current a');
    for (const a of document.querySelectorAll('.st-key-kv_nav a[aria-current]'))
      if (a !== current) a.removeAttribute('aria-current');
    current?.setAttribute('aria-current', 'page');
  };
  // The links may be drawn later or again, because the browser loads their script separately.
  let next = 0;
  const drawn = new MutationObserver(() => {
    next ||= requestAnimationFrame(() => {
      next = 0;
      mark();
    });
  });
  mark();
  drawn.observe(document.body, { childList: true, subtree: true });
  document.addEventListener('keydown', press);
  return () => {
    drawn.disconnect();
    cancelAnimationFrame(next);
    document.removeEventListener('keydown', press);
  };
}
