// Writes the reader's choices into the address, beside what others write there; null takes one out of it.
// Whenever Python writes the address it does so as it last knew it: this is called anew then, and writes again.
export default function ({ data: { chosen } }) {
  const url = new URL(location.href);
  for (const name in chosen)
    if (chosen[name] === null) url.searchParams.delete(name);
    else url.searchParams.set(name, chosen[name]);
  if (url.href !== location.href) history.replaceState(history.state, '', url);
}
