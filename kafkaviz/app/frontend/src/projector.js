// A page on a projector: all of it so large that the smallest word has 16 pixels, and the keys of it: Escape leaves, and a presenter's
// Page keys go to the next step of the lesson and back, or on a page without steps down and up; arrows are the stepper's.
const WIDTH = 960,
  HEIGHT = 540, // what is laid out, and then made larger
  LEAST = 16 / 12; // the smallest words are 12 pixels high

export default function () {
  const style = document.documentElement.style,
    measure = () => {
      const factor = Math.max(LEAST, Math.min(innerWidth / WIDTH, innerHeight / HEIGHT));
      style.setProperty('--kv-zoom', String(Math.ceil(factor * 1000) / 1000));
    },
    press = event => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector('[role=dialog], [data-testid=stPopoverBody]')) return;
      const name = { Escape: 'kv_projector', PageDown: 'kv_next', PageUp: 'kv_back' }[event.key],
        button = /** @type {HTMLButtonElement | null} */ (
          document.querySelector(`.st-key-${name} button`)
        );
      if (!name) return;
      event.preventDefault();
      if (button) return button.click(); // of one that is disabled nothing comes
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
