// Paths from a public client to the origin that the tunnel figures compare. These are direct, reverse proxies and tunnels, each in its own processes.
import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { findFreePort } from '../../packages/server/tests/harness/peer-process.ts'
import { stopChild } from './callsign-server.ts'
import { startCallsignTunnel } from './callsign-tunnel.ts'
import { installLocaltunnel } from './localtunnel.ts'
import { here, type RemoteHost } from './remote-host.ts'
import { type Path, type Start, startChild, waitForPort } from './tunnel-path.ts'

export type Origin = { port: number; pid: number; stop: () => Promise<void> }

export async function startOrigin(remote: RemoteHost = here): Promise<Origin> {
  const [child, { port }] = await startChild<{ port: number }>('tunnel-origin.ts', [], remote)
  return { port, pid: child.pid as number, stop: () => stopChild(child) }
}

/**
 * Starts every path to the origin, one after the other. When the origin is on the remote side, only tunnels are started. Programs that are not installed
 * are left out, and a line says so.
 */
export async function startPaths(origin: Origin, folder: string, remote: RemoteHost = here): Promise<Path[]> {
  const starters = [...(remote === here ? [startDirect, startNginx, startNodeProxy] : []), startCallsignTunnel, startSsh, startLocaltunnel]
  const paths: Path[] = []
  try {
    for (const start of starters) {
      const path = await start({ originPort: origin.port, folder, remote })
      if (typeof path === 'string') console.log(`left out: ${path}`)
      else paths.push(path)
    }
  } catch (error) {
    for (const path of paths) await path.stop()
    throw error
  }
  return paths
}

const startDirect: Start = async ({ originPort }) => ({
  name: 'direct',
  port: originPort,
  host: `127.0.0.1:${originPort}`,
  isTunnel: false,
  gateway: [],
  client: [],
  stop: async () => {},
})

const startNodeProxy: Start = async ({ originPort }) => {
  const [child, { port }] = await startChild<{ port: number }>('node-proxy.ts', [originPort])
  const stop = () => stopChild(child)
  return {
    name: 'node:http reverse proxy',
    port,
    host: `127.0.0.1:${port}`,
    isTunnel: false,
    gateway: [child.pid as number],
    client: [],
    stop,
  }
}

const startNginx: Start = async ({ originPort, folder }) => {
  if (!existsSync('/usr/sbin/nginx')) return 'nginx (Debian: apt install nginx-light)'
  const home = join(folder, 'nginx')
  mkdirSync(home, { recursive: true })
  const port = await findFreePort()
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${home}/${kind};`).join('\n')
  const configuration = `
daemon off; pid ${home}/pid; error_log ${home}/error.log; worker_processes 1; ${userInfo().uid === 0 ? 'user root;' : ''}
events { worker_connections 4096; }
http {
  access_log off; ${temporary}
  keepalive_requests 100000000; client_max_body_size 0;
  upstream origin { server 127.0.0.1:${originPort}; keepalive 128; keepalive_requests 100000000; }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_buffering off; proxy_request_buffering off; proxy_read_timeout 600s;
    }
  }
}`
  writeFileSync(join(home, 'nginx.conf'), configuration)
  const child = spawn('/usr/sbin/nginx', ['-c', join(home, 'nginx.conf'), '-p', home], { stdio: 'ignore' })
  await waitForPort(port, child)
  return {
    name: 'nginx reverse proxy',
    port,
    host: `127.0.0.1:${port}`,
    isTunnel: false,
    gateway: [child.pid as number],
    client: [],
    stop: () => stopChild(child),
  }
}

const startSsh: Start = async ({ originPort, folder, remote }) => {
  if (!existsSync('/usr/sbin/sshd')) return 'ssh -R (Debian: apt install openssh-server openssh-client)'
  const home = join(folder, 'ssh')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  // The folder that sshd separates its privileges in, which Debian makes when the service starts.
  if (userInfo().uid === 0) mkdirSync('/run/sshd', { recursive: true })
  for (const name of ['host', 'user']) spawnSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(home, name)])
  spawnSync('cp', [join(home, 'user.pub'), join(home, 'authorized')])
  chmodSync(join(home, 'authorized'), 0o600)
  const [serverPort, port] = [await findFreePort(), await findFreePort()]
  const settings = [
    `Port ${serverPort}`,
    `ListenAddress ${remote.nearAddress}`,
    `HostKey ${home}/host`,
    `AuthorizedKeysFile ${home}/authorized`,
    `PidFile ${home}/pid`,
    'StrictModes no',
    'UsePAM no',
    'PermitRootLogin prohibit-password',
    'PasswordAuthentication no',
  ]
  writeFileSync(join(home, 'sshd_config'), settings.join('\n'))
  const server = spawn('/usr/sbin/sshd', ['-D', '-f', join(home, 'sshd_config')], { stdio: 'ignore' })
  await waitForPort(serverPort, server, remote.nearAddress)
  const options = ['StrictHostKeyChecking=no', `UserKnownHostsFile=${home}/known`, 'ExitOnForwardFailure=yes', 'LogLevel=ERROR']
  const clientArgs = [
    ...['-N', '-p', String(serverPort), '-i', join(home, 'user'), '-R', `127.0.0.1:${port}:127.0.0.1:${originPort}`],
    ...options.flatMap((option) => ['-o', option]),
    `${userInfo().username}@${remote.nearAddress}`,
  ]
  const client = spawn(...remote.command('ssh', clientArgs), { stdio: 'ignore' })
  await waitForPort(port, client)
  return {
    name: 'ssh -R',
    port,
    host: `127.0.0.1:${port}`,
    isTunnel: true,
    gateway: [server.pid as number],
    client: [client.pid as number],
    stop: async () => {
      await stopChild(client)
      await stopChild(server)
    },
  }
}

const startLocaltunnel: Start = async ({ originPort, folder, remote }) => {
  const home = join(folder, 'localtunnel')
  if (!existsSync(home)) {
    const failure = installLocaltunnel(home)
    if (failure) return failure
  }
  const [server, { port }] = await startChild<{ port: number }>('localtunnel.ts', ['server', home])
  const [client, { url }] = await startChild<{ url: string }>(
    'localtunnel.ts',
    ['client', home, `http://${remote.nearAddress}:${port}`, originPort],
    remote,
  )
  return {
    name: 'localtunnel',
    port,
    host: new URL(url).host,
    isTunnel: true,
    gateway: [server.pid as number],
    client: [client.pid as number],
    stop: async () => {
      await stopChild(client)
      await stopChild(server)
    },
  }
}
