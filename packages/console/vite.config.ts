// Bundles the console into dist, below /console, with hashed names and without a request to any other host.
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  build: {
    outDir: 'dist',
    assetsDir: 'assets',
    // The first versions with `light-dark()`, of 2023 and 2024.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // The content security policy rejects scripts and styles in inlined `data:` URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  // Without `development`, a build started by a test would carry the paths of its sources.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
})
