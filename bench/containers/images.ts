// Assembles a base image from Debian's packages and builds the server's image on it, with a storage folder of its own.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export const root = join(import.meta.dirname, '..', '..')
const suite = 'bookworm'
const mirror = 'http://deb.debian.org/debian'
const authorities = '/etc/ssl/certs'

/** Work folder, kept between runs for the base and the layers. */
export const folder = join(root, 'node_modules', '.cache', 'callsign', 'containers')

// podman refuses a longer path for its state.
const storage = ['--storage-driver', 'overlay', '--root', join(folder, 'storage'), '--runroot', join(tmpdir(), 'callsign-podman')]

/** podman runs on runc, because crun refuses machines with both versions of cgroups. */
export const podmanArguments = ['--log-level', 'fatal', '--runtime', 'runc', ...storage]

/** Runs a program and returns its output. Throws with the end of its errors. */
export function run(
  program: string,
  args: string[],
  options: { input?: string | Buffer; cwd?: string; env?: NodeJS.ProcessEnv } = {},
): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28, ...options })
  if (status !== 0) throw new Error(`${program} ${args.at(-1)} ended with ${status ?? error?.message}: ${stderr.slice(-1500)}`)
  return stdout
}

/** Runs podman on the storage of this command. */
export const podman = (args: string[], options: { input?: string | Buffer } = {}): string =>
  run('podman', [...podmanArguments, ...args], options)

/** Assembles `localhost/base` with mmdebstrap, as Debian's own slim image is: without manuals and translations. Returns whether it was kept. */
export function buildBase(): 'assembled' | 'kept' {
  mkdirSync(folder, { recursive: true })
  const archive = join(folder, `${suite}.tar`)
  const isKept = existsSync(archive)
  if (!isKept) {
    const left = ['man', 'doc', 'locale', 'info'].map((name) => `--dpkgopt=path-exclude=/usr/share/${name}/*`)
    run('mmdebstrap', [
      '--quiet',
      '--variant=minbase',
      '--include=ca-certificates',
      ...left,
      suite,
      `${archive}.new`,
      '--format=tar',
      mirror,
    ])
    renameSync(`${archive}.new`, archive)
  }
  const context = freshFolder('base')
  cpSync(archive, join(context, 'base.tar'))
  build('localhost/base', context, 'FROM scratch\nADD base.tar /\nCMD ["sh"]\n')
  return isKept ? 'kept' : 'assembled'
}

/** Builds `localhost/build-base`: the base with the pinned Node and this machine's npm, in place of Node's own image. */
export function buildBuildBase(): void {
  const context = freshFolder('build-base')
  cpSync(process.execPath, join(context, 'node'))
  const npm = realpathSync(run('sh', ['-c', 'command -v npm']).trim())
  cpSync(dirname(dirname(npm)), join(context, 'npm'), { recursive: true })
  const lines = [
    'FROM localhost/base',
    `ENV NODE_EXTRA_CA_CERTS=${authorities}/ca-certificates.crt`,
    'COPY node /usr/local/bin/',
    'COPY npm /usr/local/lib/node_modules/npm',
    'RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm',
  ]
  build('localhost/build-base', context, `${lines.join('\n')}\n`)
}

/** Builds the server's image from its own Dockerfile, in the repository or in a copy of it. */
export function buildServer(tag: string, context: string = root): void {
  const bases = ['BUILD_BASE=localhost/build-base', 'BASE=localhost/base'].flatMap((pair) => ['--build-arg', pair])
  // The certificate authorities of this machine, because a company's proxy may have one of its own.
  const network = ['--network', 'host', '--volume', `${authorities}:${authorities}:ro`]
  run('buildah', [...storage, 'bud', '--isolation', 'chroot', '--format', 'docker', '--layers', ...network, ...bases, '-t', tag, context])
}

/** Builds `localhost/systemd`: the base with systemd, the account of the unit, and the unit. */
export function buildSystemd(unit: string): void {
  const context = freshFolder('systemd')
  cpSync(unit, join(context, 'callsign.service'))
  const lines = [
    'FROM localhost/base',
    'RUN apt-get update -q && apt-get install -y -q --no-install-recommends systemd curl iproute2',
    'RUN useradd --system --home-dir /var/lib/callsign --shell /usr/sbin/nologin callsign',
    'COPY callsign.service /etc/systemd/system/',
    'CMD ["/lib/systemd/systemd"]',
  ]
  build('localhost/systemd', context, `${lines.join('\n')}\n`)
}

/** Copies the repository as the next version, which adds a migration. Returns the copy's folder. */
export function copyAsNextVersion(version: string): string {
  const target = freshFolder('next')
  const listed = run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: root })
  for (const path of new Set(listed.split('\0'))) {
    if (path && existsSync(join(root, path))) cpSync(join(root, path), join(target, path))
  }
  const manifest = join(target, 'packages/server/package.json')
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"version": "[^"]*"/, `"version": "${version}"`))
  const migration = 'CREATE TABLE upgrade_probe (id integer PRIMARY KEY);\n'
  writeFileSync(join(target, 'packages/server/migrations/9990-upgrade-probe.sql'), migration)
  return target
}

export function build(tag: string, context: string, text: string): void {
  writeFileSync(join(context, 'Dockerfile'), text)
  run('buildah', [...storage, 'bud', '--isolation', 'chroot', '--format', 'docker', '--network', 'host', '-t', tag, context])
}

export function freshFolder(name: string): string {
  const path = join(folder, name)
  rmSync(path, { recursive: true, force: true })
  mkdirSync(path, { recursive: true })
  return path
}
