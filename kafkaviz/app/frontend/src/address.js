// Writes choices into the address; null removes a parameter, and other parameters stay. When Python
// rewrites the address from its last known state, this component runs again and repeats its write.
export default function ({ data: { chosen } }) {
  const url = new URL(location.href);
  for (const name in chosen)
    if (chosen[name] === null) url.searchParams.delete(name);
    else url.searchParams.set(name, chosen[name]);
  if (url.href !== location.href) history.replaceState(history.state, '', url);
}
