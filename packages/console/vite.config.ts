// Bundles the console into dist, below /console, with hashed names and without a request to any other host.
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  build: {
    outDir: 'dist',
    assetsDir: 'assets',
    target: ['chrome111', 'firefox115', 'safari16.4'],
    // The content security policy rejects scripts and styles in inlined `data:` URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
})
