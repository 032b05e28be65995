// The code blocks of the documentation as programs, one per page and language, and a runner for them.
import { spawn, spawnSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { parseMarkdown } from '../../src/edges/docs-site/markdown.ts'

export const repository = join(import.meta.dirname, '..', '..', '..', '..')
const site = join(repository, 'docs', 'site')

/** A language in which a reader follows the pages. */
export type Language = 'curl' | 'ts' | 'python' | 'cli'
/** One block. `output` is the text that its output must contain, or null. In it `…` stands for anything. */
export type Step = { code: string; output: string | null }
export type Program = { page: string; language: Language; steps: Step[] }
/** A block that is not run, with the words behind its fence. */
export type Quoted = { page: string; fence: string; code: string }

const languages: Record<string, Language> = { 'sh curl': 'curl', ts: 'ts', python: 'python', 'sh cli': 'cli' }

/** The programs of a page, by its path from docs/site, and the blocks that are none. A text block holds the output of the blocks before it. */
export async function readPage(page: string): Promise<{ programs: Program[]; quoted: Quoted[] }> {
  const programs = new Map<Language, Program>()
  const quoted: Quoted[] = []
  let group: Step[] = []
  let isGroupOpen = false
  for (const token of parseMarkdown(await readFile(join(site, page), 'utf8'))) {
    if (token.type === 'space') continue
    if (token.type !== 'code') {
      isGroupOpen = false
      continue
    }
    const { lang: fence = '', text: code } = token as { lang?: string; text: string }
    const language = languages[fence]
    if (fence === 'text' && group.length > 0) {
      for (const step of group) step.output = code
      group = []
    } else if (language === undefined) quoted.push({ page, fence, code })
    else {
      if (!isGroupOpen) group = []
      const step = { code, output: null }
      group.push(step)
      const program = programs.get(language) ?? { page, language, steps: [] }
      program.steps.push(step)
      programs.set(language, program)
    }
    isGroupOpen = true
  }
  return { programs: [...programs.values()], quoted }
}

/** Words of the pages, and those that stand for them in one run. */
export type Words = [pattern: RegExp, word: string][]
export type Setting = { url: string; key: string }

export type Ran = { code: number | null; outputs: string[]; stderr: string }

const marker = '@@@ next block @@@'

const extensions: Record<Language, string> = { curl: 'sh', cli: 'sh', ts: 'mts', python: 'py' }
const separators: Record<Language, string> = {
  curl: `printf '%s\\n' '${marker}'`,
  cli: `printf '%s\\n' '${marker}'`,
  ts: `console.log('${marker}')`,
  python: `print("${marker}", flush=True)`,
}

export type Workshop = {
  /** Writes the program to the folder of its language, where all pages find the files of the earlier ones. Returns the path. */
  prepare(program: Program, words: Words): Promise<string>
  /** Runs a prepared program, in a terminal of its own. */
  run(file: string, program: Program, setting: Setting, signal: AbortSignal): Promise<Ran>
  /** The compiler's findings about all prepared programs in TypeScript. */
  typeCheck(): Promise<string>
  remove(): Promise<void>
}

export const replaceWords = (text: string, words: Words): string =>
  words.reduce((changed, [pattern, word]) => changed.replace(pattern, word), text)

/** A folder in which programs find our packages, and a shell finds our command. */
export async function createWorkshop(python: string | null): Promise<Workshop> {
  const root = await mkdtemp(join(tmpdir(), 'callsign-snippets-'))
  const bin = join(root, 'bin')
  await mkdir(bin)
  await symlink(join(repository, 'node_modules'), join(root, 'node_modules'))
  const command = `exec '${process.execPath}' --disable-warning=ExperimentalWarning '${join(repository, 'packages/cli/src/main.ts')}' "$@"`
  const programs: Record<string, string> = {
    callsign: command,
    node: `exec '${process.execPath}' "$@"`,
    // An answer with an error ends the program.
    curl: `case " $* " in *' --fail '*) set -- "$@" ;; *) set -- --fail-with-body "$@" ;; esac
exec '${findCommand('curl')}' "$@"`,
  }
  for (const [name, text] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/sh\n${text}\n`)
    await chmod(join(bin, name), 0o755)
  }

  return {
    async prepare({ page, language, steps }, words) {
      const folder = join(root, language)
      await mkdir(folder, { recursive: true })
      const code = steps.map((step) => replaceWords(step.code, words)).join(`\n${separators[language]}\n`)
      const file = join(folder, `${basename(page, '.md')}.${extensions[language]}`)
      await writeFile(file, `${code}\n`)
      return file
    },
    async run(file, { language }, { url, key }, signal) {
      const folder = dirname(file)
      const [command, ...values] =
        language === 'ts'
          ? [process.execPath, '--disable-warning=ExperimentalWarning', file]
          : language === 'python'
            ? [python ?? 'python3', file]
            : ['bash', '-euo', 'pipefail', file]
      const environment = {
        PATH: `${bin}:${process.env.PATH}`,
        HOME: folder,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        CALLSIGN_URL: url,
        CALLSIGN_API_KEY: key,
        CALLSIGN_CLIENT_DIR: join(folder, 'settings'),
        PYTHONPATH: join(repository, 'packages/python/src'),
        PYTHONPYCACHEPREFIX: join(root, 'pycache'),
      }
      const { code, stdout, stderr } = await runCommand(command as string, values, { cwd: folder, env: environment, signal })
      return { code, outputs: stdout.split(`${marker}\n`), stderr }
    },
    async typeCheck() {
      const compilerOptions = {
        ...{ strict: true, noEmit: true, skipLibCheck: true, target: 'esnext', module: 'nodenext', types: ['node'] },
        allowImportingTsExtensions: true,
      }
      await writeFile(join(root, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['ts/*.mts'] }))
      const compiler = join(repository, 'node_modules/typescript/bin/tsc')
      const { stdout } = await runCommand(process.execPath, [compiler, '-p', root], { cwd: root })
      return stdout
    },
    remove: () => rm(root, { recursive: true, force: true }),
  }
}

const findCommand = (name: string): string => spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim()

async function runCommand(command: string, values: string[], options: { cwd: string; env?: NodeJS.ProcessEnv; signal?: AbortSignal }) {
  const { signal, ...where } = options
  const child = spawn(command, values, { ...where, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (bytes: Buffer) => {
    stdout += bytes
  })
  child.stderr.on('data', (bytes: Buffer) => {
    stderr += bytes
  })
  // Background processes keep the pipes open, and after a failure nothing else stops them.
  const endGroup = () => {
    try {
      process.kill(-(child.pid as number), 'SIGKILL')
    } catch {
      // Nothing was left.
    }
  }
  signal?.addEventListener('abort', endGroup)
  child.once('exit', (code) => code !== 0 && endGroup())
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { code, stdout, stderr }
}
