// Builds the server's image on Debian's packages, starts it as the documentation does, kills it under load, and upgrades it: `npm run containers`. Then it
// does the same with the compose files, and starts one container per role. `npm run containers -- compose` does only that, with the images of the last run.
//
// It needs root and Debian's podman, runc, buildah, mmdebstrap, docker-compose, netavark, aardvark-dns and catatonit.
import { join } from 'node:path'
import { Callsign } from '@callsign/sdk'
import { generateKey } from '../../packages/server/src/features/account/keys/model.ts'
import { startMailSink } from '../../packages/server/tests/harness/mail-sink.ts'
import { createChecklist, expectThat, requirePrograms } from '../harness/checklist.ts'
import { type Container, createContainer } from './container.ts'
import { buildBase, buildBuildBase, buildServer, copyAsNextVersion, podman } from './images.ts'
import { runInOwnNetwork } from './own-network.ts'
import { buildPostgres } from './postgres-image.ts'
import { type Acknowledged, address, agent, deliver, findLosses, findPorts, findUnsent, sendUntilStruck } from './traffic.ts'

const image = 'localhost/callsign:current'
const nextImage = 'localhost/callsign:next'
const nextVersion = '0.1.1'
const volume = 'callsign-containers-test'
const restoredVolume = `${volume}-restored`
const kills = 3
const enoughPerKill = 60

requirePrograms({
  podman: 'podman',
  runc: 'runc',
  buildah: 'buildah',
  mmdebstrap: 'mmdebstrap',
  git: 'git',
  'docker-compose': 'docker-compose netavark aardvark-dns iptables',
  catatonit: 'catatonit',
  unshare: 'util-linux',
})

const { check, finish } = createChecklist()
const inMegabytes = (tag: string) => `${(Number(podman(['image', 'inspect', '--format={{.Size}}', tag]).trim()) / 1e6).toFixed(0)} MB`
const inSeconds = (ms: number) => `ready after ${(ms / 1000).toFixed(2)} s`
const removeVolumes = () => podman(['volume', 'rm', '--force', volume, restoredVolume])

const isBuilt =
  process.argv[2] === 'compose' ||
  ((await check("base image from Debian's packages (mmdebstrap)", () => `${buildBase()}, ${inMegabytes('localhost/base')}`)) &&
    (await check('base of the build: the pinned Node and npm', () => {
      buildBuildBase()
      return inMegabytes('localhost/build-base')
    })) &&
    (await check('image from the Dockerfile (buildah)', () => {
      buildServer(image)
      return `${inMegabytes(image)} with its base`
    })))

if (isBuilt && process.argv[2] !== 'compose') await testImage()
if (isBuilt && (await check('PostgreSQL 18 for compose.external.yaml', () => void buildPostgres())))
  await check('the compose files and the roles, in a network of their own', () =>
    runInOwnNetwork(join(import.meta.dirname, 'networked.ts')),
  )
finish()

async function testImage(): Promise<void> {
  removeVolumes()
  const sink = await startMailSink()
  const ports = await findPorts()
  const apiKey = generateKey()
  const settings = {
    CALLSIGN_PORT: String(ports.http),
    CALLSIGN_SMTP_PORT: String(ports.smtp),
    CALLSIGN_METRICS_PORT: 'off',
    CALLSIGN_BOOTSTRAP_API_KEY: apiKey,
    CALLSIGN_MAIL_TRANSPORT: 'relay',
    CALLSIGN_SMTP_RELAY_URL: sink.url,
    CALLSIGN_MAIL_RETRY_SECONDS: '0.2,0.2,0.5,1,1,1,1,1',
    CALLSIGN_RATE_LIMIT_ORGANIZATION_KEY: '0',
  }
  const container = createContainer({ name: 'callsign-containers-test', volume, port: ports.http, settings })
  const restored = createContainer({ name: 'callsign-containers-restored', volume: restoredVolume, port: ports.http, settings })
  const client = new Callsign({ url: `http://127.0.0.1:${ports.http}`, apiKey })
  const acknowledged: Acknowledged = { received: new Set(), sent: new Set() }
  const expectNoLoss = async () => {
    const losses = await findLosses(client, acknowledged)
    expectThat(losses.length === 0, `${losses.length} differences: ${losses.slice(0, 3).join(', ')}`)
    return `${acknowledged.received.size} received, ${acknowledged.sent.size} sent: each stored once`
  }

  try {
    const isUp = await check('first start: read-only root, no capabilities, one volume', async () =>
      inSeconds(await container.create(image)),
    )
    if (!isUp) return
    await check('user, writable files, processes', () => describeInside(container))
    await check('HEALTHCHECK', () => (container.isHealthy() ? 'healthy' : undefined))
    await check('mail in over SMTP, and a reply to the relay', async () => {
      await client.identities.create({ agent_handle: agent })
      expectThat(await deliver(ports.smtp, 'first-in'), 'the message was refused')
      await client.messages.send(agent, { to: ['grace@example.net'], subject: 'first-out', text: 'Hello.' })
      acknowledged.received.add('first-in')
      acknowledged.sent.add('first-out')
      await waitForSends()
      return `${address} received one, the relay has one`
    })
    for (let round = 1; round <= kills; round++) {
      await check(`kill -9 under load, ${round} of ${kills}`, async () => {
        const strike = () => void container.kill()
        await sendUntilStruck({ client, smtpPort: ports.smtp, label: `kill${round}`, enough: enoughPerKill, strike }, acknowledged)
        return `back: ${inSeconds(await container.start())}`
      })
    }
    await check('nothing acknowledged is lost or stored twice', expectNoLoss)
    await check('the relay has every acknowledged send', waitForSends)
    await check('SIGTERM ends with 0', () => {
      const code = container.stop()
      expectThat(code === 0, `exit code ${code}`)
      return 'exit code 0'
    })
    await check(`next version ${nextVersion}, with a migration`, () => {
      buildServer(nextImage, copyAsNextVersion(nextVersion))
      return inMegabytes(nextImage)
    })
    await check('upgrade: the new image on the same volume', async () => inSeconds(await container.create(nextImage)))
    await check('nothing is lost by the upgrade', expectNoLoss)
    await check('the new version takes mail', async () => {
      expectThat(await deliver(ports.smtp, 'after-upgrade'), 'the message was refused')
      acknowledged.received.add('after-upgrade')
      const { info } = (await (await fetch(`http://127.0.0.1:${ports.http}/openapi.json`)).json()) as { info: { version: string } }
      expectThat(info.version === nextVersion, `/openapi.json names version ${info.version}`)
      return `version ${info.version}`
    })
    await check('backup from the container, restored into a new volume', async () => {
      container.exec('callsignd', 'backup', '/data/one.backup')
      container.stop()
      restored.runOnce(nextImage, ['restore', '/from/one.backup'], ['--volume', `${volume}:/from:ro`])
      await restored.create(nextImage)
      const found = await expectNoLoss()
      restored.stop()
      return found
    })
    await check('the older image refuses the newer database', () => {
      const refusal = container.runOnceFails(image, ['migrate'])
      expectThat(/newer|not know/.test(refusal), `it said: ${refusal.slice(0, 300)}`)
      return /This database[^.(]*/.exec(refusal)?.[0]
    })
  } finally {
    container.remove()
    restored.remove()
    removeVolumes()
    await sink.close()
  }

  /** Waits until the relay has every acknowledged send. */
  async function waitForSends(): Promise<string> {
    const untilMs = performance.now() + 60_000
    while (findUnsent(sink, acknowledged).length > 0) {
      expectThat(performance.now() < untilMs, `${findUnsent(sink, acknowledged).length} acknowledged sends did not arrive`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return `${acknowledged.sent.size} of ${acknowledged.sent.size}`
  }
}

/** Reads what the server's account may do inside the container. */
function describeInside(container: Container): string {
  const user = container.exec('id', '-u').trim()
  expectThat(user !== '0', 'the server runs as root')
  const capabilities = /CapEff:\s*(\w+)/.exec(container.exec('cat', '/proc/1/status'))?.[1] ?? ''
  expectThat(/^0+$/.test(capabilities), `effective capabilities are ${capabilities}`)
  const writable = container.exec(
    'sh',
    '-c',
    'for d in / /tmp /var/tmp /callsign /etc /usr/local/bin; do touch $d/.probe 2>/dev/null && echo $d; done; true',
  )
  expectThat(writable === '', `these folders are writable: ${writable}`)
  return `user ${user}, no capabilities, only /data is writable`
}
