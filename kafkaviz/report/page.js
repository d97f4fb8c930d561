// Draws the figures of the report: unpacks Plotly and the figures, both of which are in this file; nothing is fetched.
(async () => {
  const boxes = [...document.querySelectorAll('[data-figure]')];
  if (!boxes.length || typeof DecompressionStream === 'undefined') return;

  const unpacked = async id => {
    const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), one =>
      one.charCodeAt(0),
    );
    return new Response(
      new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')),
    ).text();
  };

  const library = document.createElement('script');
  library.textContent = await unpacked('packed-plotly');
  document.head.append(library);
  const figures = JSON.parse(await unpacked('packed-figures'));
  await Promise.all(
    ['400 13px', '600 13px'].map(size => document.fonts.load(`${size} "Source Sans"`)),
  );

  const dark = matchMedia('(prefers-color-scheme: dark)');
  const PAPER_PX = 640; // what a figure's frame leaves between the margins of A4
  const draw = (mode, width) =>
    boxes.map(box => {
      const drawn = figures[box.dataset.figure];
      const { data, layout } = structuredClone(drawn[mode] ?? drawn.light);
      const sized = width ? { ...layout, width } : { ...layout, width: undefined, autosize: true };
      box.querySelector('.undrawn')?.remove();
      return Plotly.react(box, data, sized, { displayModeBar: false, responsive: true });
    });
  const shown = () => draw(dark.matches ? 'dark' : 'light');

  let closed = [];
  addEventListener('beforeprint', () => {
    closed = [...document.querySelectorAll('details:not([open])')];
    closed.forEach(one => {
      one.open = true;
    });
    draw('light', PAPER_PX);
  });
  addEventListener('afterprint', () => {
    closed.forEach(one => {
      one.open = false;
    });
    shown();
  });
  dark.addEventListener('change', shown);
  await Promise.all(shown());
  document.documentElement.dataset.drawn = 'yes';
})();
