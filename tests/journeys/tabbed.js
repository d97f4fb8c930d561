// What the key Tab comes to: window.tabbed.step() after each, window.tabbed.missed() at the end.
() => {
  const seen = [], up = e => e.parentElement ?? e.getRootNode().host;
  const active = () => { let e = document.activeElement; while (e?.shadowRoot?.activeElement) e = e.shadowRoot.activeElement; return e; };
  const around = e => { const all = []; for (let a = e; a; a = up(a)) all.push(a); return all; };
  const named = e => `${e.tagName.toLowerCase()} ${(e.getAttribute('aria-label') || e.innerText || e.title || e.value || '').trim().replace(/\s+/g, ' ').slice(0, 50)}`;
  const dot = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
  const rgba = colour => { dot.clearRect(0, 0, 1, 1); dot.fillStyle = colour; dot.fillRect(0, 0, 1, 1); return [...dot.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const behind = e => around(e).map(a => rgba(getComputedStyle(a).backgroundColor)).find(colour => colour[3] > 200) ?? [255, 255, 255];
  const contrast = (a, b) => { const [high, low] = [light(a), light(b)].sort((x, y) => y - x); return (high + .05) / (low + .05); };
  const isShown = e => around(e).slice(0, 4).some(a => { // WCAG 1.4.11 and 2.4.7: an outline of 2 px, three times as light or dark as what is behind it
    const style = getComputedStyle(a);
    return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2 && contrast(rgba(style.outlineColor), behind(up(a) ?? a)) >= 3;
  });
  const step = () => {
    const e = active(), before = seen.indexOf(e);
    if (!e || e === document.body) return { before: 0 };
    if (before >= 0) return { name: named(e), before, isLast: before === seen.length - 1 };
    seen.push(e);
    return { name: named(e), before: -1, isShown: isShown(e) };
  };
  const missed = () => {
    const found = [], isControl = e => e.matches('button, a[href], input, select, textarea, summary, [tabindex], [role=button], [role=checkbox], [role=slider], [role=tab], [role=link]');
    const points = e => getComputedStyle(e).cursor === 'pointer' && getComputedStyle(up(e) ?? e).cursor !== 'pointer';
    const isReached = e => around(e).some(a => seen.includes(a)) || seen.some(one => around(one).includes(e)) || (e.control && seen.includes(e.control));
    const visit = root => root.querySelectorAll('*').forEach(e => {
      if (e.shadowRoot) visit(e.shadowRoot);
      const { width, height } = e.getBoundingClientRect();
      if (width < 3 || height < 3 || !e.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true }) || e.closest('[inert], [aria-hidden=true], .js-plotly-plot')) return;
      if (!(isControl(e) && e.tabIndex >= 0 || points(e)) || e.disabled || isReached(e)) return;
      const group = e.closest('[role=radiogroup], [role=tablist], [role=listbox], [role=toolbar]'); // its arrows move within it
      if (!group || !seen.some(one => group.contains(one))) found.push(named(e));
    });
    visit(document);
    return found;
  };
  window.tabbed = { step, missed };
}
