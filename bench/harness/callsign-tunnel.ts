// The Callsign path of the tunnel figures. It has a server as shipped, and `callsign tunnel` in its own process.
import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, startCallsign, stopChild } from './callsign-server.ts'
import { here, type RemoteHost } from './remote-host.ts'
import type { Start } from './tunnel-path.ts'

const program = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'src', 'main.ts')
const handle = 'bench'

type Client = { pid: number; stop: () => Promise<void> }

/** Runs `callsign tunnel` for an agent of this server, and resolves when it is connected. The key and its log lines are kept in `home`. */
export async function startTunnelClient(
  server: { url: string; key: string | null },
  agent: string,
  originPort: number,
  home: string,
  remote: RemoteHost = here,
): Promise<Client> {
  const keyFile = join(home, 'key')
  writeFileSync(keyFile, server.key as string, { mode: 0o600 })
  const url = `http://${remote.nearAddress}:${new URL(server.url).port}`
  const args = ['tunnel', String(originPort), '--agent', agent, '--url', url, '--api-key-file', keyFile, '--json']
  const nodeArgs = ['--disable-warning=ExperimentalWarning', program, ...args]
  // The log lines go to a file. This process is busy with the load and would not read them, so they would pile up in the client.
  const lines = join(home, 'lines')
  const out = openSync(lines, 'w')
  const client = spawn(...remote.command(process.execPath, nodeArgs), { stdio: ['ignore', out, 'inherit'] })
  closeSync(out)
  while (!readFileSync(lines, 'utf8').includes('"event":"connected"')) {
    if (client.exitCode !== null) throw new Error(`callsign tunnel ended with ${client.exitCode} before it was connected.`)
    await sleep(20)
  }
  return { pid: client.pid as number, stop: () => stopChild(client) }
}

export const startCallsignTunnel: Start = async ({ originPort, folder, remote }) => {
  const home = mkdtempSync(join(folder, 'callsign-'))
  const data = join(home, 'data')
  mkdirSync(data)
  const server = await startCallsign(data, { settings: { CALLSIGN_RATE_LIMIT_TUNNEL: '0', CALLSIGN_HOST: '0.0.0.0' } })
  await ask(server, server.key as string, 'POST', '/api/v1/identities', { agent_handle: handle })
  const client = await startTunnelClient(server, handle, originPort, home, remote)
  return {
    name: 'callsign',
    port: Number(new URL(server.url).port),
    host: `${handle}.tunnel.localhost`,
    isTunnel: true,
    gateway: [server.pid],
    client: [client.pid],
    stop: async () => {
      await client.stop()
      await server.stop()
    },
  }
}
