// HAProxy in front of the database and of Callsign's processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { accepts } from '../../packages/server/tests/harness/peer-process.ts'

/** A port and the servers behind it. `check` says how HAProxy finds out which of them work. */
export type Service = { name: string; port: number; mode: 'tcp' | 'http'; check: string[]; servers: string[] }

const startMsMax = 10_000

/** Connections to a server that is found down are closed, so that their clients do not wait for it. */
const settingsOf = (services: Service[]): string => `global
  maxconn 4000
defaults
  timeout connect 2s
  timeout client 10m
  timeout server 10m
  timeout check 1s
  timeout queue 5s
  option redispatch
  retries 3
${services
  .map(
    ({ name, port, mode, check, servers }) => `listen ${name}
  bind 127.0.0.1:${port}
  mode ${mode}
${check.map((line) => `  ${line}\n`).join('')}  default-server check inter 500ms fastinter 250ms downinter 250ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.map((address, index) => `  server ${name}${index} ${address}\n`).join('')}`,
  )
  .join('')}`

/** Starts it. Resolves when its ports accept connections. */
export async function startHaproxy(folder: string, services: Service[]): Promise<ChildProcess> {
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(file, settingsOf(services))
  const log = openSync(join(folder, 'haproxy.log'), 'a')
  const child = spawn('haproxy', ['-db', '-f', file], { stdio: ['ignore', log, log] })
  const startedMs = performance.now()
  for (const { port } of services) {
    while (!(await accepts(port))) {
      if (performance.now() - startedMs > startMsMax) throw new Error(`HAProxy does not listen. See ${folder}/haproxy.log.`)
      await delay(20)
    }
  }
  return child
}
