// A Ceph cluster of one machine with its S3 gateway, from Debian's packages, on loopback.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { findFreePort } from '../../packages/server/tests/harness/peer-process.ts'

/** The programs and Debian's packages that have them. */
export const cephPrograms = {
  radosgw: 'radosgw',
  'radosgw-admin': 'radosgw',
  'ceph-mon': 'ceph-mon',
  'ceph-osd': 'ceph-osd',
  ceph: 'ceph-common',
  monmaptool: 'ceph-common',
}
const readyMsMax = 180_000

export type Ceph = Awaited<ReturnType<typeof startCeph>>

/** Starts a monitor, a store on a file and the gateway, with one user and one empty bucket. */
export async function startCeph(folder: string, bucket: string) {
  const [monitorPort, port] = await Promise.all([findFreePort(), findFreePort()])
  for (const name of ['mon', 'osd', 'run', 'rgw']) mkdirSync(join(folder, name), { recursive: true })
  const settings = join(folder, 'ceph.conf')
  const cluster = randomUUID()
  writeFileSync(settings, settingsOf({ folder, cluster, monitorPort, port }))
  const environment = { PATH: process.env.PATH, CEPH_CONF: settings }
  const children: ChildProcess[] = []
  const log = openSync(join(folder, 'run', 'output.log'), 'a')

  const run = (command: string, ...args: string[]): string => {
    const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', env: environment, timeout: readyMsMax })
    if (status !== 0) throw new Error(`${command} ${args.join(' ')}: ${stderr || error?.message}`)
    return stdout.trim()
  }
  const start = (command: string, ...args: string[]): ChildProcess => {
    const child = spawn(command, [...args, '-f'], { stdio: ['ignore', log, log], env: environment })
    children.push(child)
    return child
  }
  const kill = async (child: ChildProcess): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  const user = { accessKeyId: randomBytes(10).toString('hex'), secretAccessKey: randomBytes(20).toString('hex') }
  const endpoint = `http://127.0.0.1:${port}`
  let gateway: ChildProcess

  /** One signed request to the gateway. */
  async function request(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body: Buffer | null = null,
  ): Promise<Response> {
    const given = { method, url: `${endpoint}${path}`, headers, ...user, service: 's3', region: 'us-east-1' }
    const signed = await new AwsV4Signer(body ? { ...given, body } : given).sign()
    return fetch(signed.url, { method, headers: signed.headers, body: body && new Uint8Array(body) })
  }

  async function startGateway(): Promise<void> {
    gateway = start('radosgw', '-i', 'admin')
    const deadlineMs = performance.now() + readyMsMax
    while (!(await isAnswering(endpoint))) {
      if (gateway.exitCode !== null || performance.now() > deadlineMs) throw new Error(`radosgw does not answer, see ${folder}/run`)
      await delay(50)
    }
  }

  const stop = async (): Promise<void> => {
    await Promise.all(children.map(kill))
  }
  try {
    run('monmaptool', '--create', '--fsid', cluster, '--addv', 'a', `[v2:127.0.0.1:${monitorPort}]`, join(folder, 'monmap'))
    run('ceph-mon', '--mkfs', '-i', 'a', '--monmap', join(folder, 'monmap'))
    start('ceph-mon', '-i', 'a')
    const osd = randomUUID()
    const number = run('ceph', 'osd', 'new', osd)
    run('ceph-osd', '-i', number, '--mkfs', '--osd-uuid', osd)
    start('ceph-osd', '-i', number)
    const { accessKeyId, secretAccessKey } = user
    run(
      'radosgw-admin',
      'user',
      'create',
      '--uid=callsign',
      '--display-name=Callsign',
      `--access-key=${accessKeyId}`,
      `--secret=${secretAccessKey}`,
    )
    await startGateway()
    const made = await request('PUT', `/${bucket}`)
    if (made.status !== 200) throw new Error(`the bucket was answered ${made.status}: ${await made.text()}`)
  } catch (error) {
    await stop()
    throw error
  }

  return {
    port,
    endpoint,
    user,
    version: run('radosgw', '--version'),
    request,
    startGateway,
    killGateway: () => kill(gateway),
    stop,
  }
}

const isAnswering = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  )

type Settings = { folder: string; cluster: string; monitorPort: number; port: number }

/** Nothing is authenticated inside the cluster, which listens on loopback only and holds test data. */
const settingsOf = ({ folder, cluster, monitorPort, port }: Settings): string => `[global]
fsid = ${cluster}
mon host = v2:127.0.0.1:${monitorPort}
auth cluster required = none
auth service required = none
auth client required = none
${['mon client', 'client', 'service', 'cluster', 'mon cluster', 'mon service'].map((name) => `ms ${name} mode = crc`).join('\n')}
ms bind ipv6 = false
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 1
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
mon allow pool size one = true
mon data avail crit = 1
run dir = ${folder}/run
admin socket = ${folder}/run/$name.asok
log file = ${folder}/run/$name.log
mon cluster log file = ${folder}/run/cluster.log
crash dir = ${folder}/run
[mon]
mon data = ${folder}/mon
public addr = v2:127.0.0.1:${monitorPort}
[osd]
osd data = ${folder}/osd
osd objectstore = bluestore
bluestore block size = 4294967296
bluestore block db create = false
bluestore block wal create = false
public addr = 127.0.0.1
cluster addr = 127.0.0.1
[client]
rgw frontends = beast endpoint=127.0.0.1:${port}
rgw data = ${folder}/rgw
`
