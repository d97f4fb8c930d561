// Returns the words of headings, labels and buttons that are broken over two lines, also in shadow
// roots. A word ends at a blank, and after a hyphen or a slash; names of files are no words.
() => {
  const WORD = /[A-Za-z]{3,}/g,
    NAME = /[-/._:\d]/,
    KINDS = 'h1, h2, h3, h4, label, button, a, th, dt, .kv-lab, .kv-figt, .figt, .lab',
    broken = [];
  const isVisible = element =>
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const isForListeners = text => text.parentElement.getBoundingClientRect().width <= 1;
  const check = text => {
    if (isForListeners(text)) return;
    for (const { 0: token, index } of text.data.matchAll(/\S+/g)) {
      if (NAME.test(token)) continue;
      for (const word of token.matchAll(WORD)) {
        const range = document.createRange();
        range.setStart(text, index + word.index);
        range.setEnd(text, index + word.index + word[0].length);
        const boxes = [...range.getClientRects()].filter(box => box.width),
          tops = boxes.map(box => Math.round(box.top));
        if (new Set(tops).size > 1) broken.push(word[0]);
      }
    }
  };
  const walk = root => {
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) walk(element.shadowRoot);
      if (!element.matches(KINDS) || !isVisible(element)) continue;
      const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) check(texts.currentNode);
    }
  };
  walk(document);
  return [...new Set(broken)];
};
