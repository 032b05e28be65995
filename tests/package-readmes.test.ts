// Runs the READMEs of the published packages as printed: the install command, then each example, type-checked, on Node 20, against a server.
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { published } from '../bin/build.ts'
import { type Harness, startHarness } from '../packages/server/tests/harness/start.ts'
import { consumerNode, nodeTypes, type Registry, startRegistry, typeCheck } from './package-registry.ts'

/** `output` is the text block that follows the example, or null; in it `…` stands for anything. */
type Example = { language: 'sh' | 'ts' | 'js'; code: string; output: string | null }

const linesMax = 7

function readExamples(name: string): Example[] {
  const readme = readFileSync(join(import.meta.dirname, '..', 'packages', name, 'README.md'), 'utf8')
  const examples: Example[] = []
  for (const [, language, code = ''] of readme.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)) {
    const last = examples.at(-1)
    if (language === 'text' && last && last.output === null) last.output = code
    else if (language === 'sh' || language === 'ts' || language === 'js') examples.push({ language, code, output: null })
    else throw new Error(`packages/${name}/README.md: a ${language} block is neither an example nor the output of one`)
  }
  return examples
}

const toPattern = (output: string): RegExp => {
  const literals = output.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
  return new RegExp(`^${literals.join('[\\s\\S]*')}$`)
}

let registry: Registry
beforeAll(async () => {
  registry = await startRegistry()
})
afterAll(() => registry?.stop())

describe.each(published)('packages/$name/README.md', ({ name }) => {
  const examples = readExamples(name)
  const install = `npm install @callsign/${name}\n`
  const needsServer = examples.some(({ code }) => /\bnew Callsign\(|^callsign /m.test(code))
  let project: string
  let harness: Harness | undefined
  beforeAll(async () => {
    if (needsServer) harness = await startHarness()
    project = registry.createProject(`readme-${name}`)
  })
  afterAll(() => harness?.stop())

  test('documents install, import and require in short examples, each with its output', () => {
    expect(examples[0]).toEqual({ language: 'sh', code: install, output: null })
    for (const { code, output } of examples.slice(1)) {
      expect(code.split('\n').filter((line) => line !== '').length, code).toBeLessThanOrEqual(linesMax)
      expect(output, code).not.toBeNull()
    }
    expect(examples.filter(({ language }) => language === 'ts').map(({ code }) => code)).toContainEqual(
      expect.stringContaining(`from '@callsign/${name}`),
    )
    expect(examples.filter(({ language }) => language === 'js').map(({ code }) => code)).toContainEqual(
      expect.stringContaining(`require('@callsign/${name}`),
    )
  })

  test(`examples type-check and print the documented output on ${consumerNode.label}`, async () => {
    const settings = {
      ...(harness && { CALLSIGN_URL: harness.baseUrl, CALLSIGN_API_KEY: harness.organizationKey }),
      CALLSIGN_CLIENT_DIR: join(project, 'settings'),
    }
    const runShell = (script: string) => registry.run(project, 'bash', ['-c', `set -euo pipefail\n${script}`], settings)
    expect(await runShell(install)).toMatchObject({ code: 0, stderr: '' })

    const files = examples.map(({ language }, index) => (language === 'js' ? `example-${index}.cjs` : `example-${index}.mts`))
    const programs = files.filter((_, index) => examples[index]?.language !== 'sh')
    for (const [index, { language, code }] of examples.entries())
      if (language !== 'sh') writeFileSync(join(project, files[index] as string), code)
    const options = { ...nodeTypes, module: 'nodenext', skipLibCheck: true, allowJs: true, checkJs: true, outDir: 'built' }
    expect(await typeCheck(registry, project, options, programs)).toBe('')

    for (const [index, { language, code, output }] of examples.entries()) {
      if (code === install) continue
      const program = join('built', (files[index] as string).replace('.mts', '.mjs'))
      const ran = await (language === 'sh' ? runShell(code) : registry.run(project, consumerNode.path, [program], settings))
      expect(ran, `${code}${ran.stderr}`).toMatchObject({ code: 0 })
      expect(ran.stdout, code).toMatch(toPattern(output as string))
      if (language !== 'sh') expect(ran.stderr, code).toBe('')
    }
  })
})

test('docs/site/clients.md installs the library and the command from a checkout', async () => {
  const page = readFileSync(join(import.meta.dirname, '..', 'docs', 'site', 'clients.md'), 'utf8')
  expect(/^```sh build\n([\s\S]*?)^```$/m.exec(page)?.[1]).toBe('npm run build\n')
  const commands = [...page.matchAll(/^```sh install\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) => block.trim().split('\n'))
  const npm = commands.filter((command) => command.startsWith('npm install '))
  expect(npm).toHaveLength(2)
  const project = registry.createProject('from-a-checkout')
  // The folder of the checkout beside the project, as the page has it.
  mkdirSync(join(project, '..', 'callsign'))
  symlinkSync(registry.tarballs, join(project, '..', 'callsign', 'dist'))
  const prefix = join(project, 'global')
  for (const command of npm) {
    const ran = await registry.run(project, 'bash', ['-c', command], { npm_config_prefix: prefix })
    expect(ran, ran.stderr).toMatchObject({ code: 0 })
  }
  const program =
    "import { Callsign } from '@callsign/sdk'; console.log(typeof new Callsign({ url: 'http://localhost:8080', apiKey: 'k' }).me)"
  expect(await registry.run(project, consumerNode.path, ['--input-type=module', '-e', program])).toMatchObject({
    code: 0,
    stdout: 'function\n',
  })
  const help = await registry.run(project, join(prefix, 'bin', 'callsign'), ['help'])
  expect(help).toMatchObject({ code: 0, stdout: expect.stringContaining('callsign mail') })
})
