// Returns the texts of drawings below 4.5 : 1 against what is behind them, and the strokes of shapes
// without a fill below 3 : 1 against the page or card. Lines of a grid or an axis (.ax, .gridlayer, the
// token --kv-line) are decoration.
() => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const parse = text => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = text;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((c, i) => c * a + below[i] * (1 - a));
  const light = rgb => {
    const [r, g, b] = rgb.map(c => (c / 255 <= 0.04045 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => {
    const [x, y] = [light(a), light(b)].sort((m, n) => n - m);
    return (x + 0.05) / (y + 0.05);
  };
  const parentOf = e => e.parentElement ?? e.getRootNode().host ?? null;
  // the colour of the page or the card behind a drawing
  const ground = element => {
    const layers = [];
    for (let e = element; e; e = parentOf(e)) {
      const colour = parse(getComputedStyle(e).backgroundColor);
      layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
  };
  const opacity = element => {
    let all = 1;
    for (let e = element; e; e = parentOf(e)) all *= Number(getComputedStyle(e).opacity);
    return all;
  };
  const faint = new Set(),
    boxesOf = new Map(); // Plotly draws one figure in several stacked drawings
  // the area of a shape; Plotly clips it to the axes
  const clipped = (shape, drawing, box) => {
    const axes = shape.closest('[clip-path]') && drawing.parentNode.querySelector('.nsewdrag')?.getBoundingClientRect();
    return axes ? { ...box.toJSON(), left: Math.max(box.left, axes.left), right: Math.min(box.right, axes.right) } : box;
  };
  const sample = document.querySelector('[data-testid=stApp]').appendChild(document.createElement('i'));
  sample.style.color = 'var(--kv-line)';
  const grid = getComputedStyle(sample).color;
  sample.remove();
  const check = drawing => {
    const below = ground(drawing);
    const boxes = boxesOf.get(drawing.parentNode) ?? [];
    boxesOf.set(drawing.parentNode, boxes);
    for (const e of drawing.querySelectorAll('rect, path, line, polyline, circle, polygon, text')) {
      if (e.closest('defs, .ax, .crisp, .gridlayer, .zerolinelayer, .draglayer')) continue;
      const style = getComputedStyle(e),
        box = e.getBoundingClientRect();
      if (!box.width || style.visibility === 'hidden' || style.display === 'none') continue;
      if (e.tagName !== 'text') {
        const fill = style.fill === 'none' ? [0, 0, 0, 0] : parse(style.fill),
          ink = style.stroke === 'none' ? [0, 0, 0, 0] : parse(style.stroke),
          isLine = fill[3] * Number(style.fillOpacity) === 0,
          shown = ink[3] * Number(style.strokeOpacity) * parseFloat(style.strokeWidth),
          found = ratio(over([ink[0], ink[1], ink[2], ink[3] * opacity(e)], below), below);
        if (isLine && shown > 0 && style.stroke !== grid && found < 3)
          faint.add(`${e.tagName}.${e.getAttribute('class')} ${style.stroke} ${found.toFixed(2)}`);
        if (!isLine) boxes.push([clipped(e, drawing, box), fill, opacity(e) * Number(style.fillOpacity)]);
        continue;
      }
      if (!e.textContent.trim()) continue;
      const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
      let behind = below;
      for (const [area, fill, alpha] of boxes)
        if (area.left <= x && x <= area.right && area.top <= y && y <= area.bottom && area.width < 4000)
          behind = over([fill[0], fill[1], fill[2], fill[3] * alpha], behind);
      const ink = parse(style.fill),
        seen = over([ink[0], ink[1], ink[2], ink[3] * opacity(e)], behind),
        found = ratio(seen, behind);
      if (found < 4.5) faint.add(`${e.textContent.trim().slice(0, 30)} ${found.toFixed(2)}`);
    }
  };
  const walk = root => {
    for (const e of root.querySelectorAll('*')) {
      if (e.shadowRoot) walk(e.shadowRoot);
      if (e.tagName === 'svg' && !e.parentElement?.closest('svg') && e.getBoundingClientRect().width > 100)
        check(e);
    }
  };
  walk(document);
  return [...faint];
};
