// Bundles each component of src/ into one file of bundles/, and stores a hash of the sources. `npm
// run bundle` writes bundles/; `npm run check` also fails if they are out of date.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const SOURCES = join(import.meta.dirname, 'src'),
  BUNDLES = join(import.meta.dirname, 'bundles'),
  DIGEST = 'sources.sha256';

// The components that Python registers by name, each a file or a folder; they import the rest of
// src/.
const ENTRY_POINTS = Object.fromEntries(
  readdirSync(SOURCES, { withFileTypes: true })
    .map(({ name }) =>
      name.endsWith('.js') ? [name.slice(0, -'.js'.length), name] : [name, `${name}/${name}.js`],
    )
    .map(([name, path]) => [name, join(SOURCES, path)])
    .filter(([, path]) => existsSync(path) && /^export default /m.test(readFileSync(path, 'utf8'))),
);

// Hashes the path and text of each source; tests/app/test_scripts.py computes the same without
// node.
function digest() {
  const hash = createHash('sha256');
  const paths = readdirSync(SOURCES, { recursive: true })
    .map(path => String(path).replaceAll('\\', '/'))
    .filter(path => path.endsWith('.js'))
    .sort();
  for (const path of paths) hash.update(`${path}\0`).update(readFileSync(join(SOURCES, path)));
  return `${hash.digest('hex')}\n`;
}

const { outputFiles } = await build({
  entryPoints: ENTRY_POINTS,
  outdir: BUNDLES,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  // Streamlit would take a one-line script for a path
  banner: { js: '// Made of src/ by bundle.js.' },
  write: false,
});
const wanted = new Map(outputFiles.map(file => [file.path.split(/[\\/]/).at(-1), file.text]));
wanted.set(DIGEST, digest());

const stale = [...wanted].filter(
  ([name, text]) =>
    !existsSync(join(BUNDLES, name)) || readFileSync(join(BUNDLES, name), 'utf8') !== text,
);
const extra = existsSync(BUNDLES) ? readdirSync(BUNDLES).filter(name => !wanted.has(name)) : [];
if (process.argv.includes('--check')) {
  for (const name of [...stale.map(([name]) => name), ...extra])
    console.error(`bundles/${name} is not what src/ gives: npm run bundle writes it`);
  process.exitCode = stale.length || extra.length ? 1 : 0;
} else {
  for (const [name, text] of stale) writeFileSync(join(BUNDLES, name), text);
  for (const name of extra) rmSync(join(BUNDLES, name));
}
