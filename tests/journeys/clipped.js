// What is cut off or has to be scrolled to sideways on a page, the components' shadow roots looked into: a line each.
// isNarrow: a table or a figure may be wider than its own frame, which scrolls.
isNarrow => {
  const found = [], main = document.querySelector('[data-testid=stMain]');
  for (const e of [document.documentElement, main])
    if (e.scrollWidth > e.clientWidth) found.push(`${e.tagName} is ${e.scrollWidth} px wide in a window of ${e.clientWidth}`);
  const named = e => e && (e.getAttribute('title') || e.getAttribute('aria-label') || named(e.parentElement ?? e.getRootNode().host));
  const unseen = e => !e.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true }) || e.clientWidth < 2; // for screen readers alone
  const own = e => [...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim());
  const visit = root => root.querySelectorAll('*').forEach(e => {
    if (e.shadowRoot) visit(e.shadowRoot);
    const style = getComputedStyle(e);
    if (style.overflowX === 'visible' || e === main || e.scrollWidth <= e.clientWidth + 1 || !e.textContent.trim() || unseen(e)) return;
    if (isNarrow && /auto|scroll/.test(style.overflowX)) return;
    if (style.textOverflow === 'ellipsis' && named(e)) return;
    if (e.matches('input, textarea, .kv-ic, [data-testid=stIconMaterial]') || e.closest('svg, .js-plotly-plot')) return; // a field scrolls to its cursor; icons are glyphs
    const name = `${e.tagName.toLowerCase()}.${[...e.classList].join('.')}`;
    found.push(`${name} shows ${e.clientWidth} of ${e.scrollWidth} px: ${e.textContent.trim().replace(/\s+/g, ' ').slice(0, 70)}`);
  });
  visit(document);
  return found;
}
