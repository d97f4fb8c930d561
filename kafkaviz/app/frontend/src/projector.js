// Projector mode. The page is enlarged until the smallest text has 16 pixels. Escape leaves the
// mode. Page Down and Page Up, the keys of a presenter, go to the next and previous step of the
// lesson, or scroll a page without steps. Arrow keys belong to the stepper.
import { hasModifier } from './dom.js';

const WIDTH = 960,
  HEIGHT = 540, // the page is laid out in this size and then enlarged
  LEAST = 16 / 12; // the smallest text is 12 pixels high

export default function () {
  const style = document.documentElement.style,
    measure = () => {
      const factor = Math.max(LEAST, Math.min(innerWidth / WIDTH, innerHeight / HEIGHT));
      style.setProperty('--kv-zoom', String(Math.ceil(factor * 1000) / 1000));
    },
    press = event => {
      if (hasModifier(event)) return;
      if (document.querySelector('[role=dialog], [data-testid=stPopoverBody]')) return;
      const name = { Escape: 'kv_projector', PageDown: 'kv_next', PageUp: 'kv_back' }[event.key],
        button = /** @type {HTMLButtonElement | null} */ (
          document.querySelector(`.st-key-${name} button`)
        );
      if (!name) return;
      event.preventDefault();
      if (button) return button.click(); // a disabled button ignores the click
      const top = event.key === 'PageDown' ? innerHeight : -innerHeight;
      document.querySelector('[data-testid=stMain]')?.scrollBy({ top });
    };
  measure();
  addEventListener('resize', measure);
  document.addEventListener('keydown', press);
  return () => {
    removeEventListener('resize', measure);
    document.removeEventListener('keydown', press);
    style.removeProperty('--kv-zoom');
  };
}
