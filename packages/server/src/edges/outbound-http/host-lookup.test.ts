// Lookups in a hosts file and at a DNS server.
import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { addressesInHosts, createHostLookup } from './host-lookup.ts'

const hosts = `# names of this machine
127.0.0.1\tlocalhost
10.0.0.5   receiver  Receiver.internal # the receiver
fd00::5 receiver
not-an-address receiver
`

test('a lookup gives every address of a name in any case and with a trailing dot', () => {
  expect(addressesInHosts(hosts, 'receiver')).toEqual(['10.0.0.5', 'fd00::5'])
  expect(addressesInHosts(hosts, 'RECEIVER.internal.')).toEqual(['10.0.0.5'])
  expect(addressesInHosts(hosts, 'the')).toEqual([])
  expect(addressesInHosts('', 'receiver')).toEqual([])
})

test('both families are queried, one may be empty, and the hosts file comes first', async () => {
  const questions: number[] = []
  const server = createSocket('udp4')
  // Echoes the question (RFC 1035 §4.1), with one address when it asks for A and the name is not `none.example`.
  server.on('message', (query: Buffer, from: RemoteInfo) => {
    let end = 12
    while (query[end] !== 0) end += (query[end] as number) + 1
    const type = query.readUInt16BE(end + 1)
    questions.push(type)
    const isAnswered = type === 1 && !query.includes('none')
    const answer = isAnswered ? Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 192, 0, 2, 7]) : Buffer.alloc(0)
    const header = Buffer.from([query[0] as number, query[1] as number, 0x81, 0x80, 0, 1, 0, isAnswered ? 1 : 0, 0, 0, 0, 0])
    server.send(Buffer.concat([header, query.subarray(12, end + 5), answer]), from.port, from.address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const lookup = createHostLookup([`127.0.0.1:${server.address().port}`], '/dev/null')
    expect(await lookup('name.example')).toEqual(['192.0.2.7'])
    expect(new Set(questions)).toEqual(new Set([1, 28]))
    expect(await lookup('none.example')).toEqual([])
    const asked = questions.length
    expect(await createHostLookup([`127.0.0.1:${server.address().port}`])('localhost')).toContain('127.0.0.1')
    expect(questions.length).toBe(asked)
  } finally {
    server.close()
  }
})
