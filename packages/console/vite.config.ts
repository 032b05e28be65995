// Bundles the console into dist, below /console, with hashed names and without a request to any other host.
import { defineConfig, type UserConfig } from 'vite'

const common: UserConfig = {
  root: import.meta.dirname,
  base: '/console/',
  // Without `development`, a build started by a test would carry the paths of its sources.
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact', development: false } },
}

const build: UserConfig['build'] = {
  outDir: 'dist',
  assetsDir: 'assets',
  // The first versions with `light-dark()`, of 2023 and 2024.
  target: ['chrome123', 'firefox120', 'safari17.5'],
  // The content security policy rejects scripts and styles in inlined `data:` URLs.
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
  reportCompressedSize: false,
}

/**
 * The vault page is one script without chunks or styles of its own, so that a single hash covers it. It is not a
 * module, because Chromium refuses module workers to pages from the disk. It is built with `--mode vault`.
 */
const vault: UserConfig = {
  ...common,
  // The package's index holds every hash function. This file has Argon2 alone.
  resolve: { alias: { 'hash-wasm': 'hash-wasm/dist/argon2.umd.min.js' } },
  build: {
    ...build,
    copyPublicDir: false,
    rolldownOptions: {
      // Vite's own helper for chunks mentions import.meta, and this build has no chunks.
      checks: { emptyImportMeta: false },
      input: `${import.meta.dirname}/vault.html`,
      output: { codeSplitting: false, format: 'iife' },
    },
  },
}

export default defineConfig(({ mode }) => (mode === 'vault' ? vault : { ...common, build }))
