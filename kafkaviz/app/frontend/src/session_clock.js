// The clock of a session: the minutes since it was started, and how far they are from the plan. A window keeps the start over a reload.
import { icon } from './dom.js';
import { fillTemplate } from './text.js';

const STARTED = 'kafkaviz_session_started',
  TICK_MS = 1000,
  MINUTE_MS = 60_000;

export default function ({ parentElement: root, data }) {
  const state = (root.host.__clock ??= {}),
    $ = name => root.querySelector(`.${name}`),
    { words, plan } = data,
    [first, last, total] = plan;
  state.release?.(); // Streamlit calls anew on each change, without cleaning up before
  $('lab').textContent = words.clock;
  $('planned').textContent = fillTemplate(words.planned, { first, last, total });
  const show = () => {
    const started = Number(sessionStorage.getItem(STARTED)),
      minutes = started ? (Date.now() - started) / MINUTE_MS : 0;
    $('time').textContent = clockText(minutes);
    $('state').textContent = started ? planText(words, minutes, first, last) : words.stopped;
    $('state').classList.toggle('late', Boolean(started) && minutes >= last + 1);
    $('start').replaceChildren(
      icon(started ? 'restart_alt' : 'timer'),
      started ? words.again : words.start,
    );
  };
  $('start').onclick = () => {
    sessionStorage.setItem(STARTED, String(Date.now()));
    show();
  };
  show();
  const timer = setInterval(show, TICK_MS);
  return (state.release = () => clearInterval(timer));
}

export function clockText(minutes) {
  const seconds = Math.floor(minutes * 60);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

// Where the clock stands to the minutes of this step; less than one before or behind them is on time.
export function planText(words, minutes, first, last) {
  const behind = Math.floor(minutes - last),
    ahead = Math.floor(first - minutes);
  if (behind >= 1) return fillTemplate(words.behind, { minutes: behind });
  if (ahead >= 1) return fillTemplate(words.ahead, { minutes: ahead });
  return words.on_time;
}
