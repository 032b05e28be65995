// Tests the configurations in deploy/ for nginx, Caddy and HAProxy as they are, in a network of its own: `npm run proxies`.
//
// It needs Debian's nginx-light, caddy and haproxy, and root. The command runs itself again in namespaces, where it owns ports 80 and 443, /etc/hosts
// and /etc/callsign.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCertificate } from '../../packages/server/tests/harness/certificate.ts'
import { requirePrograms } from '../harness/checklist.ts'

const apiName = 'callsign.example.com'
const tunnelDomain = 'tunnel.example.net'

requirePrograms({ nginx: 'nginx-light', caddy: 'caddy', haproxy: 'haproxy', unshare: 'util-linux', ip: 'iproute2' })

const folder = mkdtempSync(join(tmpdir(), 'callsign-proxies-'))
try {
  const certificates = join(folder, 'tls')
  mkdirSync(join(certificates, 'haproxy'), { recursive: true })
  const authority = createCertificate({ commonName: 'Proxies test' })
  for (const [file, name] of [
    ['api', apiName],
    ['tunnel', `*.${tunnelDomain}`],
  ] as const) {
    const { cert, key } = createCertificate({ commonName: name, dnsNames: [name], issuer: authority })
    writeFileSync(join(certificates, `${file}.pem`), cert)
    writeFileSync(join(certificates, `${file}.key`), key)
    writeFileSync(join(certificates, 'haproxy', `${file}.pem`), cert + key)
  }
  writeFileSync(join(folder, 'authority.pem'), authority.cert)
  writeFileSync(join(folder, 'hosts'), `127.0.0.1 localhost ${apiName} sales.${tunnelDomain}\n`)
  cpSync(join(import.meta.dirname, '..', '..', 'deploy'), join(folder, 'deploy'), { recursive: true })
  const setUp =
    'ip link set lo up && mkdir -p /etc/callsign && mount --bind "$1" /etc/callsign && mount --bind "$1/hosts" /etc/hosts && shift && exec "$@"'
  const { status } = spawnSync(
    'unshare',
    [
      '--net',
      '--mount',
      'sh',
      '-c',
      setUp,
      'sh',
      folder,
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, 'inside.ts'),
      folder,
    ],
    { stdio: 'inherit', env: { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') } },
  )
  process.exitCode = status ?? 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
