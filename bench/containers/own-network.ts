// Runs a script in a network of its own, in which podman may use any port and any bridge.
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expectThat } from '../harness/checklist.ts'
import { limits } from './container.ts'
import { folder } from './images.ts'

/** Runs the script to its end, with its ledger on this terminal. Throws when a check of it failed. */
export function runInOwnNetwork(script: string): undefined {
  const networks = join(folder, 'networks')
  mkdirSync(networks, { recursive: true })
  const ulimits = limits().filter((word) => word !== '--ulimit')
  const configuration = join(folder, 'containers.conf')
  writeFileSync(
    configuration,
    `[containers]\ndefault_ulimits = ${JSON.stringify(ulimits)}\n[network]\nnetwork_backend = "netavark"\nnetwork_config_dir = "${networks}"\n`,
  )
  const setup = [
    'ip link set lo up',
    'mkdir -p /run/netns /run/containers',
    'mount -t tmpfs tmpfs /run/netns',
    'mount -t tmpfs tmpfs /run/containers',
  ]
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', script]
  const { status } = spawnSync('unshare', ['--net', '--mount', 'sh', '-c', [...setup, 'exec "$@"'].join(' && '), 'sh', ...command], {
    stdio: 'inherit',
    env: { ...process.env, CONTAINERS_CONF: configuration },
  })
  expectThat(status === 0, 'see the lines above')
  return undefined
}
