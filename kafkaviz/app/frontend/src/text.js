// Numbers and messages as text for readers.
export const groupDigits = n => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f');
export const formatBytes = n => {
  if (n < 1023.5) return `${n} B`;
  const u = ['KiB', 'MiB', 'GiB', 'TiB'];
  let i = -1;
  do {
    n /= 1024;
    i++;
  } while (n >= 1023.5 && i < 3);
  return (
    (n >= 100 ? n.toFixed(0) : n >= 10 ? n.toFixed(1) : n.toFixed(2)).replace(/\.0+$/, '') +
    ' ' +
    u[i]
  );
};
export const scale = (a, b, c, d) => x => c + ((x - a) * (d - c)) / (b - a);
export const fillTemplate = (text, values = {}) =>
  text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '');
export const pluralText = (words, key, n) => (n === 1 && words[`${key}_1`]) || words[key];
// The approximate width of a label; a Chinese character counts twice.
export const textWidth = text =>
  [...text].reduce((sum, letter) => sum + (letter > '\u2e7f' ? 12 : 5.7), 0);
export const countText = (words, key, n, values = {}) =>
  fillTemplate(pluralText(words, key, n), { n: groupDigits(n), ...values });
