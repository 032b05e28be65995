// Checks the Python package with tools from PyPI: the wheel in an empty environment, mypy in strict mode, the vectors of the vault, and a vault that
// both clients use.
//
// usage: npm run python
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Callsign, createMemoryPins } from '@callsign/sdk'
import { makeDirectory, startCallsign } from '../harness/callsign-server.ts'

const root = join(import.meta.dirname, '..', '..')
const source = join(root, 'packages', 'python')
const folder = join(root, 'node_modules', '.cache', 'callsign', 'python')
const tools = join(folder, 'tools', 'bin')
const empty = join(folder, 'empty', 'bin')
const wheels = join(folder, 'wheels')

mkdirSync(folder, { recursive: true })
for (const environment of ['empty', 'wheels']) rmSync(join(folder, environment), { recursive: true, force: true })
copyFileSync(join(root, 'LICENSE'), join(source, 'LICENSE'))
run('python3', ['-m', 'venv', join(folder, 'tools')])
run('python3', ['-m', 'venv', join(folder, 'empty')])
run(join(tools, 'pip'), ['install', '--quiet', 'mypy', 'hatchling', 'httpx', 'argon2-cffi', 'cryptography'])

run(join(tools, 'python'), ['-m', 'hatchling', 'build', '--target', 'wheel', '--directory', wheels])
const [wheel = ''] = readdirSync(wheels)
run(join(empty, 'pip'), ['install', '--quiet', '--no-index', join(wheels, wheel)])
run(join(empty, 'python'), ['-c', 'import callsign; callsign.Callsign("http://localhost", "key"); print("imported", callsign.__version__)'])
console.log(`ok  ${wheel} installs into an empty environment`)

run(join(tools, 'mypy'), [join(source, 'src')])
console.log('ok  mypy --strict')

run(join(tools, 'python'), [join(source, 'tests/check_vault.py'), join(root, 'docs/vault-vectors.json')])
console.log('ok  vectors of the vault')

const directory = makeDirectory()
const server = await startCallsign(directory.path)
const key = server.key as string
try {
  const options = { url: server.url, apiKey: key, vault: { pins: createMemoryPins() } }
  const client = new Callsign(options)
  await client.identities.create({ agent_handle: 'sales' })
  const vaultKey = 'correct horse battery staple'
  const kdfParams = { algorithm: 'argon2id' as const, m: 19_456, t: 2, p: 1 }
  const { vault } = await client.vault.initialize({ vaultKey, kdfParams })
  await vault.create({ type: 'other', name: 'from typescript', payload: { data: 'æ 金庫', notes: 'one' } })
  const vectors = join(root, 'docs/vault-vectors.json')
  run(join(tools, 'python'), [join(source, 'tests/check_vault.py'), vectors, server.url, key, vaultKey])
  await vault.refresh()
  const { payload } = await vault.get('from python')
  const expected = JSON.stringify({ username: 'ada', password: 'correct horse ø', notes: 'changed' })
  if (JSON.stringify(payload) !== expected) throw new Error(`the TypeScript client reads ${JSON.stringify(payload)}`)
  console.log('ok  both clients read what the other stored')
} finally {
  await server.stop()
  directory.remove()
}

const other = makeDirectory()
const fresh = await startCallsign(other.path)
try {
  const readme = readFileSync(join(source, 'README.md'), 'utf8')
  const [, code = '', output] = /^```python\n([^`]*vault[^`]*)^```\n\n```text\n([^`]*)^```$/m.exec(readme) ?? []
  const settings = { CALLSIGN_URL: fresh.url, CALLSIGN_API_KEY: fresh.key as string, CALLSIGN_CLIENT_DIR: other.path }
  const environment = { ...process.env, ...settings, PYTHONPATH: join(source, 'src') }
  const printed = spawnSync(join(tools, 'python'), ['-c', code], { env: environment, encoding: 'utf8' })
  if (printed.stdout !== output) throw new Error(`the README example printed ${printed.stdout}${printed.stderr}`)
  console.log('ok  the vault example of the README')
} finally {
  await fresh.stop()
  other.remove()
}

function run(program: string, args: string[]): void {
  const environment = { ...process.env, PYTHONPATH: program.startsWith(tools) ? join(source, 'src') : '' }
  const { status, error } = spawnSync(program, args, { cwd: source, stdio: 'inherit', env: environment })
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status ?? error?.message}`)
}
