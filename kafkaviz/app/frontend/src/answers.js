// Checks answers to the exercises of lessons in the browser, as workshop/lessons/tasks.py does.
import { fillTemplate } from './text.js';

// Returns whether an answer is right, and the text of the response.
export function judgeAnswer(kind, typed, answer, words) {
  if (kind === 'choice') {
    const ok = typed === answer[0];
    return { ok, text: ok ? words.right : words.not_yet };
  }
  const numbers = wholeNumbers(typed);
  if (numbers.length !== answer.length) {
    const text = answer.length === 1 ? words.no_number : words.two_numbers;
    return { ok: false, text: `${words.not_yet}. ${fillTemplate(text, { count: answer.length })}` };
  }
  if (numbers.every((number, place) => number === answer[place]))
    return { ok: true, text: words.right };
  const text = fillTemplate(words.wrong_numbers, { typed: numbers.join(' ') });
  return { ok: false, text: `${words.not_yet}. ${text}` };
}

// Returns the whole numbers in a typed text, as text. Digits may be grouped or full-width.
export function wholeNumbers(text) {
  const ascii = text.replace(/[\uff10-\uff19]/g, digit => String(digit.charCodeAt(0) - 0xff10)),
    ungrouped = ascii.replace(/(?<=\d)[,_\u202f](?=\d{3}(?!\d))/g, '');
  return (ungrouped.match(/-?\d{1,18}/g) ?? []).map(number => String(BigInt(number)));
}
