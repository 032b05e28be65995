// The completion scripts in the shells themselves: bash always, zsh and fish where they are installed.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createCommandLine } from './command-line.ts'

const line = createCommandLine()
const scripts: Record<string, string> = {}
beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const ran = await line.start(['completion', shell])
    expect(ran).toMatchObject({ code: 0, error: '' })
    scripts[shell] = line.file(`callsign.${shell}`)
    writeFileSync(scripts[shell], ran.out)
  }
  mkdirSync(line.file('files/a folder'), { recursive: true })
  writeFileSync(line.file('files/note one.txt'), '')
})
afterAll(() => line.remove())

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0
/** The shell, with the reason if its tests are skipped. */
const nameOf = (shell: string): string => (has(shell) ? shell : `${shell} (skipped: ${shell} is not installed)`)

/** Words of a command line, the last of which is completed, with its candidates that must be offered and the ones that must not. */
const cases: [words: string[], offered: string[], notOffered: string[]][] = [
  [['ma'], ['mail'], ['login']],
  [
    ['mail', ''],
    ['list', 'send', 'forward', 'attachments'],
    ['mail', 'provision'],
  ],
  [['mail', 'l'], ['list', 'label'], ['send']],
  [['mail', 'list', '--un'], ['--unread'], ['--to', '--agent']],
  [['mail', 'list', '--'], ['--agent', '--unread', '--json', '--url'], ['--html-file']],
  [
    ['mail', 'list', '--direction', ''],
    ['inbound', 'outbound'],
    ['--agent', 'mail'],
  ],
  [['--agent', 'sales', '--json', 'mail', 'li'], ['list'], ['login']],
  [['help', 'webhooks', 'rot'], ['rotate-secret'], ['test']],
  [['completion', ''], ['bash', 'zsh', 'fish'], ['list']],
  [['whoami', '--j'], ['--json'], ['--agent']],
  [['mail', 'send', '--subject', 'l'], [], ['list', 'login', 'label']],
]

/** The words that bash offers for the last word. */
function completeInBash(words: string[], folder = line.folder): string[] {
  const commandWords = ['callsign', ...words]
  const run = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _callsign; printf '%s\\n' "\${COMPREPLY[@]}"`
  const out = execFileSync('bash', ['--noprofile', '--norc', '-c', run, 'bash', scripts.bash as string, ...commandWords], { cwd: folder })
  return out.toString().split('\n').filter(Boolean)
}

describe('bash', () => {
  test.each(cases)('%j', (words, offered, notOffered) => {
    const given = completeInBash(words)
    expect(given).toEqual(expect.arrayContaining(offered))
    expect(given.filter((word) => notOffered.includes(word))).toEqual([])
  })

  test('a file option offers paths, and --option=value counts as three words', () => {
    expect(completeInBash(['mail', 'send', '--attach', 'n'], join(line.folder, 'files'))).toEqual(['note one.txt'])
    expect(completeInBash(['mail', 'list', '--direction', '=', 'i'])).toEqual(['inbound'])
    expect(completeInBash(['mail', '--agent', '=', 'sales', 'li'])).toEqual(['list'])
  })

  test('the program after -- is completed as a program', () => {
    expect(completeInBash(['vault', 'run', '--secret', 'a=B', '--', 'bas'])).toContain('bash')
  })

  test('it is registered for callsign', () => {
    const out = execFileSync('bash', ['--noprofile', '--norc', '-c', 'source "$1"; complete -p callsign', 'bash', scripts.bash as string])
    expect(out.toString()).toContain('_callsign callsign')
  })
})

describe.skipIf(!has('fish'))(nameOf('fish'), () => {
  test.each(cases)('%j', (words, offered, notOffered) => {
    const typed = ['callsign', ...words].join(' ')
    const run = ['--no-config', '-c', 'source $argv[1]; complete -C "$argv[2]"', scripts.fish as string, typed]
    const given = execFileSync('fish', run, { cwd: line.folder, env: { ...process.env, HOME: line.folder } })
      .toString()
      .split('\n')
      .map((one) => one.split('\t', 1)[0])
    expect(given).toEqual(expect.arrayContaining(offered))
    expect(given.filter((word) => word !== undefined && notOffered.includes(word))).toEqual([])
  })
})

describe.skipIf(!has('zsh'))(nameOf('zsh'), () => {
  test('the script is valid, and defines the completion', () => {
    expect(execFileSync('zsh', ['-n', scripts.zsh as string]).toString()).toBe('')
    const run = 'autoload -Uz compinit; compinit -D -u; source $1; print -r -- $_comps[callsign]'
    expect(
      execFileSync('zsh', ['-f', '-c', run, 'zsh', scripts.zsh as string])
        .toString()
        .trim(),
    ).toBe('_callsign')
  })

  test.each(cases)('%j', (words, offered, notOffered) => {
    // Stand-ins for the completion system record the words that it would offer.
    const run = `compdef() { :; }
_describe() { local list=$argv[-1]; local one; for one in "\${(@P)list}"; do print -r -- "\${one%%:*}"; done }
_files() { :; }
_normal() { :; }
compadd() { print -rl -- "$@"; }
source $1; shift
words=("$@"); CURRENT=$#words
_callsign`
    const last = words.at(-1) as string
    const given = execFileSync('zsh', ['-f', '-c', run, 'zsh', scripts.zsh as string, 'callsign', ...words])
      .toString()
      .split('\n')
      .filter((word) => word !== '' && word.startsWith(last))
    expect(given).toEqual(expect.arrayContaining(offered))
    expect(given.filter((word) => notOffered.includes(word))).toEqual([])
  })
})
