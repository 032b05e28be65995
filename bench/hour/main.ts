// Walks docs/operating.md from an empty server to mail accepted by a large provider, in network namespaces with DNS, an authority for certificates and
// a provider of their own: `npm run hour`. It prints the time of each step without the waiting for people and for DNS.
//
// It needs Debian's curl, bind9-dnsutils, iproute2 and util-linux, and root. /etc, /opt and /var/lib of the machine are not changed.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requirePrograms } from '../harness/checklist.ts'

requirePrograms({ unshare: 'util-linux', ip: 'iproute2', curl: 'curl', dig: 'bind9-dnsutils' })
const repository = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'callsign-hour-'))
chmodSync(folder, 0o711)
for (const name of ['etc', 'etc-work', 'lib', 'opt/callsign']) mkdirSync(join(folder, name), { recursive: true })
const world = [25, 53, 80].map((last) => `ip addr add 45.20.0.${last}/24 dev outside`)
const steps = [
  `mount -t overlay overlay -o lowerdir=/etc,upperdir=${folder}/etc,workdir=${folder}/etc-work /etc`,
  'rm -f /etc/resolv.conf && echo nameserver 45.20.0.53 > /etc/resolv.conf && mkdir -p /etc/callsign',
  `mount --bind ${folder}/lib /var/lib && mount --bind ${folder}/opt /opt && mount --bind ${repository} /opt/callsign`,
  'ip link set lo up && mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns',
  'ip netns add server',
  'ip link add outside type veth peer name inside netns server',
  ...world,
  'ip link set outside up',
  'ip -n server link set lo up && ip -n server addr add 45.20.0.10/24 dev inside && ip -n server link set inside up',
  'exec "$@"',
]
try {
  const inside = [process.execPath, '--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'inside.ts'), folder]
  process.exitCode =
    spawnSync('unshare', ['--net', '--mount', 'sh', '-c', steps.join(' && '), 'sh', ...inside], { stdio: 'inherit' }).status ?? 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
