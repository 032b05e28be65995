// Starts deploy/systemd/callsign.service under Debian's systemd in a container, kills it, and stops it: `npm run unit`.
//
// It needs Debian's podman, runc, buildah, mmdebstrap and systemd, and root. The checkout is mounted read-only at /opt/callsign.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createChecklist, expectThat, requirePrograms } from '../harness/checklist.ts'
import { limits } from './container.ts'
import { buildBase, buildSystemd, podman } from './images.ts'

const root = join(import.meta.dirname, '..', '..')
const unit = join(root, 'deploy', 'systemd', 'callsign.service')
const name = 'callsign-unit-test'
/** The exposure of `systemd-analyze security`, from 0 to 10. */
const exposureMax = 1.6
const readyTries = 120

requirePrograms({ podman: 'podman', runc: 'runc', buildah: 'buildah', mmdebstrap: 'mmdebstrap', 'systemd-analyze': 'systemd' })

const { check, finish } = createChecklist()
const inside = (command: string) => podman(['exec', name, 'sh', '-c', command])
const property = (of: string) => inside(`systemctl show --property=${of} --value callsign`).trim()

await check('systemd-analyze security', () => {
  const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', unit], { encoding: 'utf8' })
  const exposure = Number(/exposure level[^:]*: ([\d.]+)/.exec(stdout)?.[1])
  expectThat(exposure <= exposureMax, `the exposure is ${exposure}, above ${exposureMax}`)
  return `${exposure} of 10`
})
const isUp = await check('systemd in a container', () => {
  buildBase()
  buildSystemd(unit)
  podman(['rm', '--force', '--ignore', name])
  const mounts = ['--volume', `${root}:/opt/callsign:ro`]
  podman([
    'run',
    '--detach',
    '--name',
    name,
    '--privileged',
    '--systemd=always',
    '--network=none',
    ...limits(),
    ...mounts,
    'localhost/systemd',
  ])
  return undefined
})
if (isUp) {
  try {
    await checkUnit()
  } finally {
    podman(['rm', '--force', '--ignore', name])
  }
}
finish()

async function checkUnit(): Promise<void> {
  await check('systemd-analyze verify', () => {
    inside('systemctl is-system-running --wait >/dev/null; systemd-analyze verify /etc/systemd/system/callsign.service')
    return undefined
  })
  await check('start with the hardening in force', async () => {
    inside('mkdir -p /etc/callsign && echo CALLSIGN_SMTP_PORT=25 > /etc/callsign/callsign.env && systemctl start callsign')
    await whenReady()
    const status = inside(`grep -E "^(CapEff|NoNewPrivs|Seccomp):" /proc/${property('MainPID')}/status`)
    expectThat(/CapEff:\s+0+400\n/.test(status) && /NoNewPrivs:\s+1/.test(status) && /Seccomp:\s+2/.test(status), status)
    return 'one capability, seccomp on'
  })
  await check('port 25 as an account without root', () => {
    expectThat(inside('ss --listening --numeric --tcp').includes(':25 '), 'nothing listens on port 25')
    return inside(`ps -o user= -p ${property('MainPID')} 2>/dev/null || stat -c %U /proc/${property('MainPID')}`).trim()
  })
  await check('kill -9: systemd starts it again', async () => {
    inside(`kill -9 ${property('MainPID')}`)
    while (property('NRestarts') === '0') await delay(100)
    await whenReady()
    return `${property('NRestarts')} restart`
  })
  await check('systemctl stop', () => {
    inside('systemctl stop callsign')
    const ended = `${property('Result')}, exit code ${property('ExecMainStatus')}`
    expectThat(ended === 'success, exit code 0', ended)
    return ended
  })
}

/** Waits for the server and then for 200 from /readyz. */
async function whenReady(): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      inside('curl --silent --fail http://127.0.0.1:8080/readyz')
      return
    } catch (error) {
      if (tries === readyTries)
        throw new Error(`${(error as Error).message}: ${inside('journalctl --unit=callsign --output=cat --lines=5')}`)
      await delay(500)
    }
  }
}
