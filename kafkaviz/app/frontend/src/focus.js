export default function ({ parentElement: root }) {
  if (root.host.__done) return;
  root.host.__done = true;
  const focusInput = tries => {
    const field = root.host.closest('[role="dialog"]')?.querySelector('input');
    if (field) {
      field.focus();
      field.setSelectionRange(field.value.length, field.value.length);
    }
    if (tries && document.activeElement !== field) setTimeout(() => focusInput(tries - 1), 30);
  };
  focusInput(10);
}
