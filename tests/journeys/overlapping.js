// Which texts are drawn over each other, the figures and the components' shadow roots included: a line a pair. Of a dialog, those in it.
() => {
  const boxes = [], silent = /^(style|script|option|title|desc)$/i;
  const up = e => e.parentElement ?? e.getRootNode().host;
  const floats = e => { for (let a = e; a; a = up(a)) if (/sticky|fixed/.test(getComputedStyle(a).position)) return a; }; // over what is scrolled below it
  const cut = (box, e) => { // to what the frames around it let through
    for (let a = e; a; a = up(a)) if (getComputedStyle(a).overflow !== 'visible') {
      const frame = a.getBoundingClientRect();
      box = { left: Math.max(box.left, frame.left), right: Math.min(box.right, frame.right), top: Math.max(box.top, frame.top), bottom: Math.min(box.bottom, frame.bottom) };
    }
    return box;
  };
  const visit = root => {
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), range = document.createRange();
    while (texts.nextNode()) {
      const node = texts.currentNode, e = node.parentElement, text = node.data.trim();
      if (!e || !text || silent.test(e.tagName) || !e.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true })) continue;
      range.selectNodeContents(node);
      for (const line of range.getClientRects()) {
        const { left, right, top, bottom } = cut(line, e), empty = (bottom - top) * .22; // above and below the letters of a line
        if (right - left > 3 && bottom - top > 3) boxes.push({ left, right, top: top + empty, bottom: bottom - empty, e, text, on: floats(e) });
      }
    }
    root.querySelectorAll('*').forEach(e => { if (e.shadowRoot) visit(e.shadowRoot); });
  };
  visit(document.querySelector('[role=dialog], [role=menu], [data-testid=stPopoverBody]') ?? document);
  const found = new Set(), isOver = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2;
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach(b => {
    if (a.on === b.on && isOver(a, b) && !a.e.contains(b.e) && !b.e.contains(a.e)) found.add(`${a.text.slice(0, 50)} / ${b.text.slice(0, 50)}`);
  }));
  return [...found];
}
