// The checks of each proxy. Runs inside the namespaces that bench/proxies/main.ts makes, with /etc/callsign as its working folder.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { request as plainRequest } from 'node:http'
import { request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Callsign } from '@callsign/sdk'
import WebSocket from 'ws'
import { type CallsignServer, makeDirectory, startCallsign, stopChild } from '../harness/callsign-server.ts'
import { createChecklist, expectThat } from '../harness/checklist.ts'
import { ask, askHttp2 } from './requests.ts'
import { startTarget, type Target } from './target.ts'

const folder = '/etc/callsign'
const api = 'https://callsign.example.com'
const tunnel = 'https://sales.tunnel.example.net'
/** Above the 60 seconds that many proxies wait by default. */
const lateMs = 65_000
const uploadBytes = 200_000_000
const pieceBytes = 1_000_000
const forged = { 'X-Forwarded-For': '127.0.0.2', 'Remote-User': 'root', 'X-Remote-User': 'root', 'X-Auth-Request-User': 'root' }

writeFileSync(
  join(folder, 'nginx.conf'),
  `daemon off; pid ${folder}/nginx.pid; error_log stderr crit; events {} http { access_log off; include ${folder}/deploy/nginx/callsign.conf; }\n`,
)
mkdirSync(join(folder, 'caddy'))
const proxies: { name: string; check: string[]; run: string[] }[] = [
  { name: 'nginx', check: ['nginx', '-q', '-t', '-c', `${folder}/nginx.conf`], run: ['nginx', '-c', `${folder}/nginx.conf`] },
  {
    name: 'caddy',
    check: ['caddy', 'validate', '--adapter', 'caddyfile', '--config', `${folder}/deploy/caddy/Caddyfile`],
    run: ['caddy', 'run', '--adapter', 'caddyfile', '--config', `${folder}/deploy/caddy/Caddyfile`],
  },
  {
    name: 'haproxy',
    check: ['haproxy', '-q', '-c', '-f', `${folder}/deploy/haproxy/haproxy.cfg`],
    run: ['haproxy', '-db', '-f', `${folder}/deploy/haproxy/haproxy.cfg`],
  },
]
const environment = { ...process.env, HOME: `${folder}/caddy`, PATH: `${process.env.PATH}:/usr/sbin` }

const { check, finish } = createChecklist()
const directory = makeDirectory()
const target = await startTarget(lateMs)
const server = await startCallsign(directory.path, {
  settings: {
    CALLSIGN_PORT: '8080',
    CALLSIGN_SMTP_PORT: 'off',
    CALLSIGN_PUBLIC_URL: api,
    CALLSIGN_TUNNEL_DOMAIN: 'tunnel.example.net',
    CALLSIGN_TRUSTED_PROXIES: '127.0.0.1/32',
  },
})
try {
  const key = server.key as string
  const local = new Callsign({ url: 'http://127.0.0.1:8080', apiKey: key })
  await local.identities.create({ agent_handle: 'sales' })
  const limited = await local.keys.create({ name: 'limited', type: 'organization', allowed_ips: ['127.0.0.2/32'] })
  for (const proxy of proxies) await checkProxy(proxy, { server, target, key, limitedKey: limited.key })
} finally {
  target.close()
  await server.stop()
  directory.remove()
}
finish()
process.exit()

type World = { server: CallsignServer; target: Target; key: string; limitedKey: string }

async function checkProxy({ name, check: syntax, run }: (typeof proxies)[number], world: World): Promise<void> {
  console.log('')
  await check(`${name}: its own check of the file`, () => {
    const [program = '', ...args] = syntax
    const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', env: environment })
    expectThat(status === 0, stderr)
    const version = spawnSync(program, [name === 'caddy' ? 'version' : '-v'], { encoding: 'utf8', env: environment })
    return `${version.stdout}${version.stderr}`.trim().split('\n')[0]
  })
  const child = spawn(run[0] as string, run.slice(1), { stdio: ['ignore', 'ignore', 'pipe'], env: environment })
  let errors = ''
  child.stderr.on('data', (bytes: Buffer) => (errors = `${errors}${bytes}`.slice(-2000)))
  try {
    await whenAnswering(child, () => errors)
    await checkApi(name, world)
    await checkTunnel(name, world)
  } finally {
    await stopChild(child)
  }
}

async function whenAnswering(child: ChildProcess, errors: () => string): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`the proxy ended with ${child.exitCode}: ${errors()}`)
    const reply = await ask(`${api}/readyz`).catch(() => null)
    if (reply?.status === 200) return
    await delay(50)
  }
}

async function checkApi(name: string, { key, limitedKey }: World): Promise<void> {
  const client = new Callsign({ url: api, apiKey: key })
  await check(`${name}: API over HTTPS, and HTTP redirected to it`, async () => {
    const { organization_name } = await client.me()
    const [redirect] = await once(plainRequest(`http://callsign.example.com/docs`, { agent: false }).end(), 'response')
    expectThat(
      [301, 308].includes(redirect.statusCode) && redirect.headers.location.startsWith(`${api}/docs`),
      `HTTP was answered ${redirect.statusCode}`,
    )
    return `${organization_name}, ${redirect.statusCode}`
  })
  await check(`${name}: a key limited to one address, from it and from another`, async () => {
    const headers = { authorization: `Bearer ${limitedKey}` }
    const right = await ask(`${api}/api/v1/me`, { localAddress: '127.0.0.2', headers })
    const wrong = await ask(`${api}/api/v1/me`, { localAddress: '127.0.0.3', headers: { ...headers, ...forged } })
    expectThat(right.status === 200 && wrong.status === 403, `answered ${right.status}, and ${wrong.status} with a forged X-Forwarded-For`)
    return `${right.status}, and ${wrong.status} with a forged X-Forwarded-For`
  })
  for (const transport of ['sse', 'websocket'] as const)
    await check(`${name}: event stream, ${transport}`, async () => {
      const subject = `${name} ${transport} ${Date.now()}`
      for await (const event of client.events.follow({ transport, onStart: () => void send(client, subject) })) {
        if (event.type !== 'email.received') continue
        expectThat(JSON.stringify(event.data).includes(subject), 'another message arrived')
        return event.type
      }
      throw new Error('the stream ended')
    })
  await check(`${name}: a message of 12 MB through the API`, async () => {
    const content = randomBytes(9_000_000).toString('base64')
    await client.messages.send('sales', {
      to: ['ada@example.com'],
      subject: 'large',
      text: 'x',
      attachments: [{ filename: 'a.bin', content }],
    })
    return `${(content.length / 1e6).toFixed(0)} MB`
  })
}

function send(client: Callsign, subject: string): Promise<unknown> {
  return client.messages.send('sales', { to: ['sales@agents.localhost'], subject, text: 'Hello.' })
}

async function checkTunnel(name: string, world: World): Promise<void> {
  const client = new Callsign({ url: api, apiKey: world.key })
  for (const transport of ['web-socket', 'upgrade'] as const)
    await check(`${name}: tunnel client connects, ${transport}`, async () => {
      const listener = await client.tunnels.listen('sales', world.target.port, { transport, connections: 1 })
      const { status } = await ask(`${tunnel}/headers`)
      await listener.close()
      expectThat(status === 200, `answered ${status}`)
      return listener.publicUrl
    })
  const listener = await client.tunnels.listen('sales', world.target.port)
  const late = ask(`${tunnel}/late`).catch((error: Error) => error)
  try {
    await checkPublicRequests(name, world.target)
    await check(`${name}: a first byte after ${lateMs / 1000} s`, async () => {
      const reply = await late
      expectThat(!(reply instanceof Error) && reply.status === 200, reply instanceof Error ? reply.message : `answered ${reply.status}`)
      return '200'
    })
  } finally {
    await listener.close()
  }
}

async function checkPublicRequests(name: string, target: Target): Promise<void> {
  await check(`${name}: client address and scheme at the target, none forged`, async () => {
    const { text } = await ask(`${tunnel}/headers`, { localAddress: '127.0.0.5', headers: forged })
    const headers = JSON.parse(text) as Record<string, string>
    expectThat(headers['x-real-ip'] === '127.0.0.5' && headers['x-forwarded-proto'] === 'https', `the target got ${text}`)
    expectThat(!/root/.test(text), `an identity header reached the target: ${text}`)
    expectThat(headers['x-forwarded-host'] === 'sales.tunnel.example.net', `the target got ${text}`)
    return `${headers['x-forwarded-for']}, ${headers['x-forwarded-proto']}`
  })
  await check(`${name}: HTTP/2 to the wildcard host`, async () => {
    const { status, text } = await askHttp2(`${tunnel}/headers`)
    expectThat(status === 200 && text.includes('sales.tunnel.example.net'), `answered ${status} ${text}`)
    return `${status}`
  })
  await check(`${name}: events through the tunnel, one by one`, async () => {
    const [response] = await once(request(`${tunnel}/events`, { agent: false }).end(), 'response')
    let text = ''
    for await (const chunk of response) {
      text += chunk
      // Arrives while the response is open, so nothing buffers it.
      if (text === 'data: first\n\n') target.sendSecondEvent()
    }
    expectThat(text === 'data: first\n\ndata: second\n\n', `the text was ${text}`)
    return 'two'
  })
  await check(`${name}: WebSocket through the tunnel`, async () => {
    const socket = new WebSocket(`${tunnel.replace('https', 'wss')}/socket`)
    await once(socket, 'open')
    socket.send('hello')
    const [data] = await once(socket, 'message')
    socket.close()
    expectThat(String(data) === 'echo hello', `the answer was ${data}`)
    return String(data)
  })
  await check(`${name}: upload of ${uploadBytes / 1e6} MB, not buffered`, () => upload(target))
}

/** Sends the rest only when the target has the first piece. */
async function upload(target: Target): Promise<string> {
  const piece = randomBytes(pieceBytes)
  const hash = createHash('sha256')
  const outgoing = request(`${tunnel}/upload`, { agent: false, method: 'POST', headers: { 'content-length': uploadBytes } })
  const answered = once(outgoing, 'response')
  const write = async () => {
    hash.update(piece)
    if (!outgoing.write(piece)) await once(outgoing, 'drain')
  }
  const beganMs = performance.now()
  await write()
  while (target.arrived() < pieceBytes) {
    expectThat(performance.now() - beganMs < 20_000, 'the first piece did not reach the target before the rest was sent')
    await delay(10)
  }
  for (let sent = pieceBytes; sent < uploadBytes; sent += pieceBytes) await write()
  outgoing.end()
  const [response] = await answered
  let text = ''
  for await (const chunk of response) text += chunk
  expectThat(text === hash.digest('hex'), `answered ${response.statusCode} ${text.slice(0, 100)}`)
  return `${(uploadBytes / 1e3 / (performance.now() - beganMs)).toFixed(0)} MB/s`
}
