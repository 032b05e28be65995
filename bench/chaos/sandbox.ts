// Runs a command in network, process and mount namespaces of its own, so that it may cut links, and leaves no process behind however it ends.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const mark = 'CALLSIGN_CHAOS_SANDBOX'
const programs: Record<string, string> = {
  patroni: 'patroni',
  etcd: 'etcd-server',
  etcdctl: 'etcd-client',
  haproxy: 'haproxy',
  ip: 'iproute2',
  unshare: 'util-linux',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
}

/** The directory of PostgreSQL's programs. */
export function postgresPrograms(): string | null {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : []
  return versions.map((version) => join(root, version, 'bin')).find((folder) => existsSync(join(folder, 'postgres'))) ?? null
}

/** Resolves with null inside the sandbox. Outside, runs this process again inside, and resolves with the exit code of that. */
export async function enterSandbox(): Promise<number | null> {
  if (process.env[mark] === '1') {
    run('ip', 'link', 'set', 'lo', 'up')
    return null
  }
  const problem = findProblem()
  if (problem !== null) {
    console.error(problem)
    return 2
  }
  // A shell is the first process, because it collects the ended children of ended parents.
  const inner = ['sh', '-c', '"$0" "$@"; exit $?', process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const child = spawn('unshare', ['--net', '--pid', '--fork', '--kill-child', '--mount-proc', ...inner], {
    stdio: 'inherit',
    env: { ...process.env, [mark]: '1' },
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

function findProblem(): string | null {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'This command needs Linux and root, for its network namespaces.'
  const missing = Object.entries(programs).flatMap(([program, name]) =>
    spawnSync('sh', ['-c', `command -v ${program}`]).status === 0 ? [] : [name],
  )
  if (postgresPrograms() === null) missing.push('postgresql')
  return missing.length === 0
    ? null
    : `Programs are missing. On Debian: apt install --no-install-recommends ${[...new Set(missing)].join(' ')}`
}

/** Runs a short command to its end, and returns its output. Throws with its messages. */
export function run(command: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr || error?.message}`)
  return stdout
}
