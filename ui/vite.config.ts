// SPDX-License-Identifier: MIT
// The report: one script and one style sheet, and page.html: both inlined, with a place for the
// data. With --mode served: script and style sheet of the served page.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import type { Plugin } from 'vitest/config';

/** As a Content-Security-Policy names the text between tags. */
const hashOf = (text: string): string =>
  `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

function page(script: string, style: string): string {
  const policy = [
    `default-src 'none'; script-src ${hashOf(script)}; style-src ${hashOf(style)}`,
    "img-src data:; base-uri 'none'; form-action 'none'",
  ].join('; ');
  return [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>weft</title>',
    `<style>${style}</style>\n</head>\n<body>\n<div id="app"></div>`,
    '<noscript>This page needs JavaScript; it loads nothing from a network.</noscript>',
    `<!--WEFT-DATA-->\n<script>${script}</script>\n</body>\n</html>\n`,
  ].join('\n');
}

function writePage(): Plugin {
  return {
    name: 'weft-page',
    apply: 'build',
    closeBundle() {
      const script = readFileSync(join('dist', 'weft.js'), 'utf8');
      const style = readFileSync(join('dist', 'weft.css'), 'utf8');
      if (/<\/script/i.test(script) || /<\/style/i.test(style))
        throw new Error('the bundle holds a closing tag and cannot be inlined');
      writeFileSync(join('dist', 'page.html'), page(script, style));
    },
  };
}

export default defineConfig(({ mode }) => {
  const isServed = mode === 'served';
  const name = isServed ? 'served' : 'weft';
  return {
    plugins: isServed ? [] : [writePage()],
    esbuild: {
      jsx: 'automatic',
      jsxImportSource: 'preact',
      legalComments: 'none',
      charset: 'ascii',
    },
    build: {
      target: 'es2021',
      cssCodeSplit: false,
      emptyOutDir: !isServed,
      reportCompressedSize: false,
      lib: {
        entry: isServed ? 'src/served.tsx' : 'src/main.tsx',
        formats: ['iife'],
        name: 'weftPage',
        fileName: () => `${name}.js`,
      },
      rollupOptions: { output: { assetFileNames: `${name}[extname]` } },
    },
    define: { 'process.env.NODE_ENV': '"production"' },
    test: { include: ['tests/unit/**/*.test.ts'] },
  };
});
