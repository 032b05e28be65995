// Resets what modules fill on first use, so that each mutant meets the state of a new process.
import type { Plugin } from 'vite'

type Resets = { mutantResets?: (() => void)[] }
const register = (reset: string): string => `;(globalThis.mutantResets ??= []).push(() => { ${reset} });`

/** Finds variables of a module (`let`), and the maps of caches. */
const variable = /^let (\w+)(?:: [^=\n]+)? = (.+)$/gm
const cache = /^( *)const (kept|decoders|organizations) = new Map<[^>\n]+>\(\);?$/gm

/** Adds a reset behind each declaration of such state. */
export const freshState = (): Plugin => ({
  name: 'fresh-state',
  enforce: 'pre',
  transform(code, id) {
    if (!id.includes('/packages/') || !id.endsWith('.ts') || id.endsWith('.test.ts')) return
    return code
      .replace(variable, (line, name: string, initial: string) => `${line}\n${register(`${name} = ${initial}`)}`)
      .replace(cache, (line, _indent, name: string) => `${line}\n${register(`${name}.clear()`)}`)
  },
})

/** Runs the resets of all loaded modules. */
export const resetState = (): void => {
  for (const reset of (globalThis as Resets).mutantResets ?? []) reset()
}
