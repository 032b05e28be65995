// A small DNS server on loopback over UDP and TCP: zones that a test fills and changes while it runs, and every way in which DNS can fail.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Packet, TRUNCATED_RESPONSE } from 'dns-packet'

/** TXT: one string a record, cut into character-strings of 255 octets, or the character-strings themselves. */
export type Records = {
  A?: string[]
  AAAA?: string[]
  CNAME?: string
  MX?: { preference: number; exchange: string }[]
  NS?: string[]
  PTR?: string[]
  TXT?: (string | string[])[]
}

/** `silence` never answers. The others are response codes of RFC 1035 §4.1.1. */
export type Failure = 'silence' | 'SERVFAIL' | 'REFUSED'

export type DnsServer = {
  port: number
  /** A value for CALLSIGN_DNS_SERVERS. */
  address: string
  /** Replaces the records of a name. Without records the name exists and is empty. */
  set(name: string, records: Records): void
  /** From now on the name does not exist. */
  remove(name: string): void
  /** Makes queries for a name fail, of one type or of all. null ends that. `*` is every name. */
  fail(name: string, failure: Failure | null, type?: keyof Records): void
  /** Every question so far: "TXT example.com", "TXT/tcp example.com". */
  asked(): string[]
  stop(): Promise<void>
}

const udpBytesMax = 512
const stringBytesMax = 255
const cnamesMax = 8
const keyOf = (name: string): string => name.toLowerCase().replace(/\.$/, '')

/** Starts with these zones, on a free port unless one is given. Names are case-insensitive. A name above an existing one exists too. */
export async function startDnsServer(zones: Record<string, Records> = {}, host = '127.0.0.1', fixedPort = 0): Promise<DnsServer> {
  const names = new Map(Object.entries(zones).map(([name, records]) => [keyOf(name), records]))
  const failures = new Map<string, Failure>()
  const asked: string[] = []
  const sockets = new Set<Socket>()

  const failureOf = (name: string, type: string): Failure | undefined =>
    failures.get(`${type} ${name}`) ?? failures.get(`ANY ${name}`) ?? failures.get(`${type} *`) ?? failures.get('ANY *')
  const exists = (name: string): boolean => names.has(name) || [...names.keys()].some((known) => known.endsWith(`.${name}`))

  /** The records of a name, or of the wildcard of its parent when the name does not exist (RFC 4592). */
  const recordsOf = (name: string): Records | undefined =>
    names.get(name) ?? (exists(name) ? undefined : names.get(name.replace(/^[^.]+/, '*')))

  /** The answer section: the CNAMEs on the way first, as a resolver gives it. */
  function answersTo(question: string, type: string): Answer[] {
    const answers: Answer[] = []
    let name = keyOf(question)
    for (let hop = 0; hop < cnamesMax; hop++) {
      const records = recordsOf(name)
      if (records?.CNAME === undefined || type === 'CNAME') return [...answers, ...render(hop === 0 ? question : name, type, records ?? {})]
      answers.push({ name: hop === 0 ? question : name, type: 'CNAME', ttl: 1, data: records.CNAME })
      name = keyOf(records.CNAME)
    }
    return answers
  }

  function reply(query: Buffer, isTcp: boolean): Buffer | null {
    let packet: Packet
    try {
      packet = decode(query)
    } catch {
      return null
    }
    const question = packet.questions?.[0]
    if (!question) return null
    const name = keyOf(question.name)
    asked.push(`${question.type}${isTcp ? '/tcp' : ''} ${name}`)
    const failure = failureOf(name, question.type)
    if (failure === 'silence') return null
    const answers = failure ? [] : answersTo(question.name, question.type)
    const rcode = failure === 'SERVFAIL' ? 2 : failure === 'REFUSED' ? 5 : answers.length > 0 || exists(name) || recordsOf(name) ? 0 : 3
    const response = (flags: number, section: Answer[]): Buffer =>
      encode({ type: 'response', id: packet.id ?? 0, flags: AUTHORITATIVE_ANSWER | flags | rcode, questions: [question], answers: section })
    const whole = response(0, answers)
    return isTcp || whole.length <= udpBytesMax ? whole : response(TRUNCATED_RESPONSE, [])
  }

  const tcp = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => socket.destroy())
    let waiting = Buffer.alloc(0)
    socket.on('data', (chunk: Buffer) => {
      waiting = Buffer.concat([waiting, chunk])
      while (waiting.length >= 2 && waiting.length >= 2 + waiting.readUInt16BE(0)) {
        const end = 2 + waiting.readUInt16BE(0)
        const answer = reply(waiting.subarray(2, end), true)
        waiting = waiting.subarray(end)
        if (!answer) continue
        const length = Buffer.alloc(2)
        length.writeUInt16BE(answer.length)
        socket.write(Buffer.concat([length, answer]))
      }
    })
  })
  const { udp, port } = await bindBoth()
  udp.on('message', (query, from) => {
    const answer = reply(query, false)
    // The asker may be gone by now.
    if (answer) udp.send(answer, from.port, from.address, () => {})
  })

  /** UDP and TCP on one port: the second may be taken already, then both try another. */
  async function bindBoth() {
    for (let attempt = 0; ; attempt++) {
      const socket = createSocket('udp4')
      socket.bind(fixedPort, host)
      await once(socket, 'listening')
      const { port } = socket.address() as AddressInfo
      tcp.listen(port, host)
      try {
        await once(tcp, 'listening')
        return { udp: socket, port }
      } catch (error) {
        socket.close()
        if (attempt === 20) throw error
      }
    }
  }

  return {
    port,
    address: `${host}:${port}`,
    set: (name, records) => void names.set(keyOf(name), records),
    remove: (name) => void names.delete(keyOf(name)),
    fail(name, failure, type) {
      const key = `${type ?? 'ANY'} ${keyOf(name)}`
      if (failure === null) failures.delete(key)
      else failures.set(key, failure)
    },
    asked: () => [...asked],
    async stop() {
      udp.close()
      for (const socket of sockets) socket.destroy()
      tcp.close()
      await once(tcp, 'close')
    },
  }
}

function render(name: string, type: string, records: Records): Answer[] {
  const ttl = 1
  switch (type) {
    case 'A':
      return (records.A ?? []).map((data) => ({ name, type, ttl, data }))
    case 'AAAA':
      return (records.AAAA ?? []).map((data) => ({ name, type, ttl, data }))
    case 'CNAME':
      return records.CNAME === undefined ? [] : [{ name, type, ttl, data: records.CNAME }]
    case 'MX':
      return (records.MX ?? []).map((data) => ({ name, type, ttl, data }))
    case 'NS':
      return (records.NS ?? []).map((data) => ({ name, type, ttl, data }))
    case 'PTR':
      return (records.PTR ?? []).map((data) => ({ name, type, ttl, data }))
    case 'TXT':
      return (records.TXT ?? []).map((text) => ({ name, type, ttl, data: typeof text === 'string' ? cut(text) : text }))
    default:
      return []
  }
}

function cut(text: string): string[] {
  const strings: string[] = []
  for (let at = 0; at === 0 || at < text.length; at += stringBytesMax) strings.push(text.slice(at, at + stringBytesMax))
  return strings
}
