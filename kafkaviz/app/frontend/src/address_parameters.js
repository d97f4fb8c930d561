// Parameters in the page's address.
export const addressParameter = name => new URLSearchParams(location.search).get(name) ?? '';

// Writes parameters; null removes one, and other parameters stay.
export function writeParameters(parameters) {
  const url = new URL(location.href);
  for (const name in parameters)
    if (parameters[name] === null) url.searchParams.delete(name);
    else url.searchParams.set(name, parameters[name]);
  if (url.href !== location.href) history.replaceState(history.state, '', url);
}
