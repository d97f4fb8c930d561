// The SQL editor: coloured text in a pre, below a transparent textarea that takes the input.
import { html, icon } from './dom.js';

const KEYWORDS = new Set(
  (
    'SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET AS WITH RECURSIVE JOIN LEFT RIGHT FULL INNER OUTER CROSS SEMI ANTI ASOF LATERAL ON USING ' +
    'AND OR NOT IN IS NULL LIKE ILIKE SIMILAR BETWEEN EXISTS CASE WHEN THEN ELSE END DISTINCT UNION ALL EXCEPT INTERSECT OVER PARTITION ROWS RANGE UNBOUNDED PRECEDING ' +
    'FOLLOWING CURRENT ROW ASC DESC NULLS FIRST LAST FILTER CAST TRY_CAST TRUE FALSE INTERVAL PIVOT UNPIVOT FOR VALUES TABLE QUALIFY WINDOW EXCLUDE REPLACE DESCRIBE SUMMARIZE'
  ).split(' '),
);
const TOKEN =
  /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*'?)|("(?:[^"]|"")*"?)|(\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)/g;
// keywords that are also names of columns
const COLUMN = new Set('PARTITION FIRST LAST OFFSET REPLACE ROW ROWS RANGE TABLE'.split(' '));

export default function ({ parentElement: root, data, setTriggerValue }) {
  const state = (root.host.__sql ??= {}),
    text = root.querySelector('textarea'),
    highlight = root.querySelector('pre');
  state.release?.();
  const draw = () =>
    highlight.replaceChildren(
      ...colourWords(text.value, text.value === data.text ? data.wrong : null),
      '\n',
    );
  const run = () => setTriggerValue('asked', text.value);
  if (state.text !== data.text) {
    text.value = data.text;
    state.text = data.text;
  } // text being typed survives a rerun
  text.maxLength = data.longest;
  text.oninput = draw;
  text.onkeydown = e => {
    if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) {
      e.preventDefault();
      run();
    }
  };
  const button = root.querySelector('.run');
  button.replaceChildren(icon('play_arrow'), data.run);
  button.onclick = run;
  const take = e => {
    // a column of the tables listed next to the field
    const name =
      e.target.closest?.('.kv-col')?.dataset.name ?? e.target.closest?.('.kv-col')?.textContent;
    if (!name) return;
    text.focus();
    text.setRangeText(name, text.selectionStart, text.selectionEnd, 'end');
    draw();
  };
  document.addEventListener('click', take);
  draw();
  return (state.release = () => document.removeEventListener('click', take));
}

function colourWords(text, wrong) {
  const out = [];
  let at = 0;
  const add = (from, to, kind) => {
    const cuts = [from, ...(wrong ?? []).filter(c => c > from && c < to), to];
    for (let i = 0; i + 1 < cuts.length; i++) {
      const bad = wrong && cuts[i] >= wrong[0] && cuts[i + 1] <= wrong[1],
        names = [kind, bad ? 'w' : ''].filter(Boolean).join(' ');
      const part = text.slice(cuts[i], cuts[i + 1]);
      out.push(names ? html('span', names, part) : part);
    }
  };
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > at) add(at, match.index, '');
    at = match.index + match[0].length;
    add(match.index, at, kindOf(match, text, at));
  }
  if (at < text.length) add(at, text.length, '');
  return out;
}

function kindOf([word, comment, string, quoted, number], text, end) {
  if (comment) return 'c';
  if (string) return 's';
  if (quoted) return '';
  if (number) return 'n';
  const upper = word.toUpperCase();
  if (KEYWORDS.has(upper) && !(COLUMN.has(upper) && word !== upper)) return 'k';
  return text[end] === '(' ? 'f' : '';
}
