// Copies the page's address, completed by what Python knows and the address bar leaves to a default.
export default function ({ parentElement: root, data }) {
  root.host.__address = data.address;
  if (root.querySelector('.btn')) return;
  const text = H('span', {}, 'Copy link'), button = H('button', { class: 'btn q', type: 'button' }, icon('link'), text);
  const say = words => { text.textContent = words; setTimeout(() => { text.textContent = 'Copy link'; }, 1400); };
  button.onclick = async () => {
    const url = new URL(location.href);
    for (const [name, value] of Object.entries(root.host.__address)) if (!url.searchParams.has(name)) url.searchParams.set(name, value);
    try { await navigator.clipboard.writeText(url.href); say('Copied'); } catch { say('Not allowed'); }
  };
  root.append(button, H('span', { class: 'away', role: 'status' }));
}
