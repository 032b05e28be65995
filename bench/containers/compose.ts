// Starts compose.yaml and compose.external.yaml with docker-compose on podman: up, healthy, mail both ways, a kill, an upgrade with the data, down.
import { spawn } from 'node:child_process'
import { cpSync, existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Callsign } from '@callsign/sdk'
import { generateKey } from '../../packages/server/src/features/account/keys/model.ts'
import { type Checklist, expectThat } from '../harness/checklist.ts'
import { freshFolder, podman, podmanArguments, root, run } from './images.ts'
import { agent, deliver } from './traffic.ts'

const readyMsMax = 180_000
const pollMs = 200
const ports = { http: 8080, smtp: 25 }
const project = 'callsign-compose-test'
const password = 'a-password-of-the-test'

/** Tags that the files name. podman resolves a short name to the second one. */
const tags = ['localhost/callsign:latest', 'docker.io/library/callsign:latest']

/** Runs docker-compose with the images of this command. It talks to podman's Docker API on a socket. */
export async function checkCompose(check: Checklist['check']): Promise<void> {
  const folder = freshFolder('compose')
  for (const name of ['compose.yaml', 'compose.external.yaml']) cpSync(join(root, name), join(folder, name))
  writeFileSync(join(folder, 'postgres-password'), `${password}\n`)
  writeFileSync(join(folder, 'database-url'), `postgres://callsign:${password}@postgres/callsign\n`)
  const socket = join(folder, 'podman.sock')
  const service = spawn('podman', [...podmanArguments, 'system', 'service', '--time=0', `unix://${socket}`], { stdio: 'ignore' })
  try {
    while (!existsSync(socket)) await delay(pollMs)
    for (const file of ['compose.yaml', 'compose.external.yaml']) await checkFile(check, folder, socket, file)
  } finally {
    service.kill()
  }
}

async function checkFile(check: Checklist['check'], folder: string, socket: string, file: string): Promise<void> {
  const apiKey = generateKey()
  writeFileSync(join(folder, 'callsign.env'), `CALLSIGN_BOOTSTRAP_API_KEY=${apiKey}\nCALLSIGN_METRICS_PORT=off\n`)
  const env = { ...process.env, DOCKER_HOST: `unix://${socket}`, COMPOSE_PROJECT_NAME: project, COMPOSE_HTTP_TIMEOUT: '300' }
  const words = (...args: string[]) => ['--file', file, ...args]
  const compose = (...args: string[]): string => run('docker-compose', words(...args), { cwd: folder, env })
  const client = new Callsign({ url: `http://127.0.0.1:${ports.http}`, apiKey })
  const containers = (): string[] =>
    podman(['ps', '--all', '--quiet', `--filter=label=com.docker.compose.project=${project}`])
      .split('\n')
      .filter(Boolean)
  const isHealthy = (id: string): boolean => podman(['inspect', '--format={{.State.Health.Status}}', id]).trim() === 'healthy'

  /** The health of a container is that of its last check, which may be before a kill. */
  const isReady = async (): Promise<boolean> => {
    const response = await fetch(`http://127.0.0.1:${ports.http}/readyz`).catch(() => null)
    await response?.body?.cancel()
    return response?.status === 200
  }

  /** podman leaves the schedule of health checks to systemd, which does not run here. */
  const checkHealth = () => {
    for (const id of containers())
      try {
        podman(['healthcheck', 'run', id])
      } catch {
        // It is not ready yet.
      }
  }

  /** `up` waits for the health of services that others depend on. */
  async function up(): Promise<string> {
    const beganMs = performance.now()
    const child = spawn('docker-compose', words('up', '--detach', '--no-build'), { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] })
    let errors = ''
    child.stderr.on('data', (bytes: Buffer) => {
      errors += bytes.toString()
    })
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
    let code: number | null | undefined
    void ended.then((value) => {
      code = value
    })
    while (code === undefined || !containers().every(isHealthy) || !(await isReady())) {
      expectThat(code === undefined || code === 0, errors.slice(-1500))
      expectThat(performance.now() - beganMs < readyMsMax, `not healthy after ${readyMsMax} ms: ${compose('logs', '--tail=20')}`)
      checkHealth()
      await delay(pollMs)
    }
    return `${containers().length} healthy after ${((performance.now() - beganMs) / 1000).toFixed(1)} s`
  }

  async function expectMail(...subjects: string[]): Promise<string> {
    const listed = (await client.messages.list(agent, { limit: 100 })).data.map(({ subject }) => subject)
    for (const subject of subjects) expectThat(listed.includes(subject), `${subject} is not among ${listed}`)
    return listed.join(', ')
  }

  try {
    tag('localhost/callsign:current')
    if (!(await check(`${file}: up`, up))) return
    await check(`${file}: mail out over the API, and in over port ${ports.smtp}`, async () => {
      await client.identities.create({ agent_handle: agent })
      await client.messages.send(agent, { to: ['grace@example.net'], subject: 'out', text: 'Hello.' })
      expectThat(await deliver(ports.smtp, 'in'), 'the message was refused')
      return expectMail('out', 'in')
    })
    await check(`${file}: kill -9, and up with the data`, async () => {
      for (const id of containers()) process.kill(Number(podman(['inspect', '--format={{.State.Pid}}', id]).trim()), 'SIGKILL')
      await up()
      return expectMail('out', 'in')
    })
    await check(`${file}: up with the image of the next version`, async () => {
      tag('localhost/callsign:next')
      await up()
      const { info } = (await (await fetch(`http://127.0.0.1:${ports.http}/openapi.json`)).json()) as { info: { version: string } }
      expectThat(await deliver(ports.smtp, 'after'), 'the message was refused')
      return `version ${info.version}: ${await expectMail('out', 'in', 'after')}`
    })
  } finally {
    await check(`${file}: down`, () => {
      compose('down', '--volumes')
      expectThat(containers().length === 0, 'containers are left')
      return undefined
    })
  }
}

function tag(image: string): void {
  podman(['tag', image, ...tags])
}
