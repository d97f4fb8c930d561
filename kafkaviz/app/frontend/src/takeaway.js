// Runs in the files that readers of the Workshop take home. Figures are drawn from data in the
// file, and questions are answered in place. Nothing is fetched, sent or stored. `scripts` holds
// the components by name, and [data-live] marks the place of one.
import { judgeAnswer } from './answers.js';

// The few icons that the components use; the app's icon font would be larger than the rest of the
// file.
const SIGNS = {
  first_page: 'M18 6l-6 6 6 6M7 6v12',
  chevron_left: 'M15 6l-6 6 6 6',
  play_arrow: 'M8 5.5v13l10.5-6.5z',
  pause: 'M8 6v12M16 6v12',
  chevron_right: 'M9 6l6 6-6 6',
  last_page: 'M6 6l6 6-6 6M17 6v12',
};

export default function (scripts) {
  const page = JSON.parse(document.getElementById('takeaway').textContent);
  const draw = place => {
    for (const box of place.querySelectorAll('[data-live]'))
      if (!box.shadowRoot && box.closest('[hidden]') === null) drawComponent(box, page, scripts);
  };
  draw(document);
  for (const step of document.querySelectorAll('section.step')) {
    const reveal = what => {
      for (const place of step.querySelectorAll(`[data-base="${what}"]`))
        place.toggleAttribute('hidden', true);
      for (const place of step.querySelectorAll(`[data-after="${what}"]`))
        place.toggleAttribute('hidden', false);
      draw(step);
      dispatchEvent(new Event('resize')); // Plotly then redraws charts that have just got a width
    };
    step.querySelectorAll('.ask').forEach(box => listenToChoices(box, page.words, reveal));
    step.querySelectorAll('form.task').forEach(form => listenToTask(form, page.words, reveal));
  }
  document.documentElement.dataset.alive = 'yes';
}

// ---- figures

function drawComponent(box, page, scripts) {
  const { name, data, bytes } = page.drawn[Number(box.dataset.live)],
    { style, markup } = page.components[name],
    root = box.attachShadow({ mode: 'open' });
  root.innerHTML = `<style>${style}</style>${markup}`;
  showSigns(root);
  new MutationObserver(() => showSigns(root)).observe(root, { childList: true, subtree: true });
  const nobody = () => undefined; // replaces the functions that send values to the app
  scripts[name]({
    parentElement: root,
    data: bytes ? Uint8Array.from(atob(bytes), letter => letter.charCodeAt(0)) : data,
    setStateValue: nobody,
    setTriggerValue: nobody,
  });
}

function showSigns(root) {
  for (const sign of root.querySelectorAll('.ic')) {
    const path = SIGNS[sign.textContent];
    if (path)
      sign.innerHTML = `<svg viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"><path d="${path}"/></svg>`;
  }
}

// ---- questions

// The first choice reveals the explanation; other choices may still be tried.
function listenToChoices(box, words, reveal) {
  const choices = [...box.querySelectorAll('button')],
    verdict = box.querySelector('.verdict-line');
  for (const choice of choices)
    choice.onclick = () => {
      const right = choice.dataset.right === 'yes';
      choices.forEach(other => {
        other.setAttribute('aria-pressed', String(other === choice));
        other.classList.toggle('wrong', other === choice && !right);
        other.classList.toggle('right', other.dataset.right === 'yes');
      });
      say(verdict, right ? 'ok' : 'error', words[right ? 'right' : 'wrong']);
      box.querySelector('.reveal').hidden = false;
      reveal('answer');
    };
}

function listenToTask(form, words, reveal) {
  const verdict = form.querySelector('.verdict-line');
  const judge = typed => {
    const answer = JSON.parse(form.dataset.answer),
      { ok, text } = judgeAnswer(form.dataset.kind, typed, answer, words);
    say(verdict, ok ? 'ok' : 'info', text);
    if (ok) reveal('task');
  };
  form.onsubmit = event => {
    event.preventDefault();
    judge(form.querySelector('input').value);
  };
  const choices = [...form.querySelectorAll('button[data-word]')];
  for (const choice of choices)
    choice.onclick = () => {
      choices.forEach(other => other.setAttribute('aria-pressed', String(other === choice)));
      judge(choice.dataset.word);
    };
}

function say(line, kind, text) {
  line.className = `verdict-line ${kind}`;
  line.textContent = text;
}
