// Walks docs/operating.md from an empty server to mail accepted by a large provider, in network namespaces with a DNS server and a provider of its own:
// `npm run hour`. It prints the time of each step without the waiting for people and for DNS.
//
// It needs Debian's curl, iproute2 and util-linux, and root.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requirePrograms } from '../harness/checklist.ts'

requirePrograms({ unshare: 'util-linux', ip: 'iproute2', curl: 'curl' })
const folder = mkdtempSync(join(tmpdir(), 'callsign-hour-'))
const link = [
  'ip link set lo up',
  'mount -t tmpfs tmpfs /run/netns 2>/dev/null || { mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns; }',
  'ip netns add server',
  'ip link add outside type veth peer name inside netns server',
  'ip addr add 45.20.0.25/24 dev outside && ip addr add 45.20.0.53/24 dev outside && ip addr add 45.20.0.99/24 dev outside && ip link set outside up',
  'ip -n server link set lo up && ip -n server addr add 45.20.0.10/24 dev inside && ip -n server link set inside up',
  'exec "$@"',
].join(' && ')
try {
  const inside = [process.execPath, '--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'inside.ts'), folder]
  process.exitCode = spawnSync('unshare', ['--net', '--mount', 'sh', '-c', link, 'sh', ...inside], { stdio: 'inherit' }).status ?? 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
