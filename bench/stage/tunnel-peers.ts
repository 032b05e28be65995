// Everything that the tunnel figures compare: an nginx target, and the ways to it: nginx and Node as reverse proxies, ssh -R, and Callsign.
import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, type CallsignServer, makeDirectory, startCallsign, stopChild } from './callsign-server.ts'

export type Way = { name: string; port: number; host: string; pids: number[]; stop: () => Promise<void> }

const tunnelHost = 'bench.tunnel.localhost'
const nginxPath = '/usr/sbin/nginx'
const sshdPath = '/usr/sbin/sshd'
const keygenPath = '/usr/bin/ssh-keygen'
export const answerBytes = 1024

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  return port
}

async function untilOpen(port: number): Promise<void> {
  for (let i = 0; i < 200; i++) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await Promise.race([once(socket, 'connect').then(() => true), once(socket, 'error').then(() => false)]).catch(
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    await sleep(25)
  }
  throw new Error(`nothing listens on ${port}`)
}

async function startNginx(folder: string, name: string, server: string, upstream = ''): Promise<{ port: number; child: ChildProcess }> {
  const port = await freePort()
  const home = join(folder, name)
  mkdirSync(join(home, 'tmp'), { recursive: true })
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${home}/tmp/${one};`).join(' ')
  const file = join(home, 'nginx.conf')
  writeFileSync(
    file,
    `daemon off; user root; worker_processes 1; pid ${home}/pid; error_log stderr crit; events { worker_connections 4096; }
http { access_log off; ${paths} keepalive_requests 1000000000; client_max_body_size 0; ${upstream}
server { listen 127.0.0.1:${port}; ${server} } }`,
  )
  const child = spawn(nginxPath, ['-c', file, '-p', home], { stdio: 'ignore' })
  await untilOpen(port)
  return { port, child }
}

/** nginx that answers 1 KB at /small and gives files of the folder. */
export async function startTarget(folder: string): Promise<Way> {
  mkdirSync(join(folder, 'files'), { recursive: true })
  writeFileSync(join(folder, 'files', 'small'), Buffer.alloc(answerBytes, 'a'))
  writeFileSync(join(folder, 'files', 'large'), Buffer.alloc(200 * 1024 * 1024, 'b'))
  const { port, child } = await startNginx(folder, 'target', `root ${folder}/files;`)
  return { name: 'directly', port, host: 'localhost', pids: [child.pid as number], stop: () => stopChild(child) }
}

export async function startNginxProxy(folder: string, target: number): Promise<Way> {
  const location =
    'location / { proxy_pass http://target; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_request_buffering off; }'
  const { port, child } = await startNginx(folder, 'proxy', location, `upstream target { server 127.0.0.1:${target}; keepalive 128; }`)
  return { name: 'nginx proxy', port, host: 'localhost', pids: [child.pid as number], stop: () => stopChild(child) }
}

/** A script of this folder as a child that is told something and answers with its port, or that it is ready. */
export async function startChild<T>(script: string, message: object): Promise<{ child: ChildProcess; answer: T }> {
  const child = fork(join(import.meta.dirname, script))
  child.send(message)
  const [answer] = (await once(child, 'message')) as [T]
  return { child, answer }
}

export async function startNodeProxy(target: number): Promise<Way> {
  const { child, answer } = await startChild<{ port: number }>('node-proxy.ts', { port: target })
  return { name: 'Node proxy', port: answer.port, host: 'localhost', pids: [child.pid as number], stop: () => stopChild(child) }
}

/** `through` changes the port that the client dials, for a slow line. Null where there is no sshd. */
export async function startSsh(folder: string, target: number, through = async (port: number) => port): Promise<Way | null> {
  if (!existsSync(sshdPath)) return null
  const home = join(folder, 'ssh')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  mkdirSync('/run/sshd', { recursive: true })
  for (const name of ['host', 'user']) spawnSync(keygenPath, ['-q', '-t', 'ed25519', '-N', '', '-f', join(home, name)])
  const [sshPort, port] = [await freePort(), await freePort()]
  writeFileSync(
    join(home, 'sshd.conf'),
    `Port ${sshPort}\nListenAddress 127.0.0.1\nHostKey ${home}/host\nAuthorizedKeysFile ${home}/user.pub\nPidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPasswordAuthentication no\n`,
  )
  const server = spawn(sshdPath, ['-D', '-f', join(home, 'sshd.conf')], { stdio: 'ignore' })
  await untilOpen(sshPort)
  const client = spawn(
    'ssh',
    [
      ...['-N', '-p', String(await through(sshPort)), '-i', join(home, 'user'), '-R', `127.0.0.1:${port}:127.0.0.1:${target}`],
      ...['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'ExitOnForwardFailure=yes', '127.0.0.1'],
    ],
    { stdio: 'ignore' },
  )
  await untilOpen(port)
  const stop = async () => {
    await stopChild(client)
    await stopChild(server)
  }
  return { name: 'ssh -R', port, host: 'localhost', pids: [server.pid as number, client.pid as number], stop }
}

/** A server with one tunnel and its client. `through` as above. */
export async function startTunnel(target: number, through = async (port: number) => port): Promise<Way & { server: CallsignServer }> {
  const directory = makeDirectory()
  const server = await startCallsign(directory.path, { settings: { CALLSIGN_SMTP_PORT: 'off' } })
  const key = server.key as string
  await ask(server, key, 'POST', '/api/v1/identities', { agent_handle: 'bench' })
  const port = Number(new URL(server.url).port)
  const url = `http://127.0.0.1:${await through(port)}`
  const { child } = await startChild('tunnel-client.ts', { url, key, handle: 'bench', port: target })
  const stop = async () => {
    await stopChild(child)
    await server.stop()
    directory.remove()
  }
  return { name: 'callsign', port, host: tunnelHost, pids: [server.pid, child.pid as number], stop, server }
}

/** A directory for the figure; `stop` ends what was started, last first. */
export function makeStage(): { folder: string; keep: <W extends { stop: () => Promise<void> }>(way: W) => W; stop: () => Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), 'callsign-tunnel-bench-'))
  const kept: { stop: () => Promise<void> }[] = []
  return {
    folder,
    keep: (way) => {
      kept.push(way)
      return way
    },
    stop: async () => {
      for (const way of kept.reverse()) await way.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
