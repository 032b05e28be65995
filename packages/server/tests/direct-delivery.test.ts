// Direct delivery with its choice of servers, their order and encryption, and its refusals. A DNS server of the test resolves all names.
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type DnsServer, startDnsServer } from '../../mail/tests/harness/dns-server.ts'
import { createLog } from '../src/core/log.ts'
import { createDnsResolver } from '../src/edges/dns/resolver.ts'
import { createAddressRules } from '../src/edges/outbound-http/address-rules.ts'
import { createDirectTransport, type DirectSettings } from '../src/edges/smtp/client/direct.ts'
import type { TlsPolicy } from '../src/features/mail/outbound/mta-sts/model.ts'
import { createCertificate } from './harness/certificate.ts'
import { findFreePort } from './harness/peer-process.ts'
import { answer, cleanups, envelope, kinds, message, type Peer, scripted, welcome } from './harness/scripted-smtp.ts'

let dns: DnsServer
beforeAll(async () => {
  dns = await startDnsServer()
})
afterAll(() => dns.stop())
let port: number
beforeEach(async () => {
  port = await findFreePort()
})

function direct(more: Partial<DirectSettings> = {}) {
  const transport = createDirectTransport({
    hostname: 'here.test',
    resolver: createDnsResolver({ servers: [dns.address] }),
    allows: createAddressRules(['127.0.0.0/8']).allows,
    findTlsPolicy: async () => null,
    port,
    restMs: 0,
    log: createLog('silent'),
    ...more,
  })
  cleanups.push(() => transport.close())
  return transport
}

const taking = async (peer: Peer) => {
  await welcome(peer, 'PIPELINING')
  await answer(peer, { DATA: '354 go', END: '250 2.0.0 taken' })
}
const at = (host: string, script: (peer: Peer) => Promise<void> = taking) => scripted(script, { host, port })
const mx = (...hosts: [number, string][]) => ({ MX: hosts.map(([preference, exchange]) => ({ preference, exchange })) })
let domains = 0
/** A domain that no other test has asked about. */
const newDomain = () => `d${++domains}.test`

describe('the route', () => {
  test('the lowest preference is tried first, and its acceptance is a delivery', async () => {
    const domain = newDomain()
    dns.set(domain, mx([20, `b.${domain}`], [10, `a.${domain}`]))
    dns.set(`a.${domain}`, { A: ['127.0.0.2'] })
    dns.set(`b.${domain}`, { A: ['127.0.0.3'] })
    const [a, b] = [await at('127.0.0.2'), await at('127.0.0.3')]
    const outcomes = await direct().deliver(envelope(`x@${domain}`), message)
    expect(outcomes).toMatchObject([{ kind: 'delivered', final: true, hop: { host: `a.${domain} [127.0.0.2]`, tls: null } }])
    expect([a.peers.length, b.peers.length]).toEqual([1, 0])
    expect(a.peers[0]?.seen.slice(0, 3)).toEqual(['EHLO here.test', 'MAIL FROM:<agent@here.test>', `RCPT TO:<x@${domain}>`])
  })

  test('the next server is tried after a failed connection or a 421 greeting, but not after an answer about the message', async () => {
    const [gone, leaving, refusing] = [newDomain(), newDomain(), newDomain()]
    const next = await at('127.0.0.9')
    await at('127.0.0.4', async (peer) => peer.say('421 4.3.2 busy'))
    await at('127.0.0.5', async (peer) => {
      await welcome(peer)
      await answer(peer, { RCPT: '450 4.2.1 later', DATA: '503 no', END: '' })
    })
    for (const [domain, first] of [
      [gone, '127.0.0.8'],
      [leaving, '127.0.0.4'],
      [refusing, '127.0.0.5'],
    ] as const) {
      dns.set(domain, mx([1, `a.${domain}`], [2, `b.${domain}`]))
      dns.set(`a.${domain}`, { A: [first] })
      dns.set(`b.${domain}`, { A: ['127.0.0.9'] })
    }
    const transport = direct()
    expect(kinds(await transport.deliver(envelope(`x@${gone}`), message))).toEqual(['delivered'])
    expect(kinds(await transport.deliver(envelope(`x@${leaving}`), message))).toEqual(['delivered'])
    expect(await transport.deliver(envelope(`x@${refusing}`), message)).toMatchObject([{ kind: 'retry', diagnosticCode: '4.2.1' }])
    expect(next.peers.flatMap((peer) => peer.seen).filter((line) => line.includes(refusing))).toEqual([])
  })

  test('recipients of several domains each go to their own servers, and the outcomes keep their order', async () => {
    const [one, two] = [newDomain(), newDomain()]
    for (const [domain, address] of [
      [one, '127.0.0.2'],
      [two, '127.0.0.3'],
    ] as const) {
      dns.set(domain, mx([1, `m.${domain}`]))
      dns.set(`m.${domain}`, { A: [address] })
    }
    await at('127.0.0.2')
    await at('127.0.0.3', async (peer) => {
      await welcome(peer)
      await answer(peer, { RCPT: '550 5.1.1 no', DATA: '503 no', END: '' })
    })
    const outcomes = await direct().deliver(envelope(`a@${one}`, `b@${two}`, `c@${one.toUpperCase()}`), message)
    expect(kinds(outcomes)).toEqual(['delivered', 'refused', 'delivered'])
  })

  test('without MX the domain itself is tried, but not when an MX exists without an address', async () => {
    const [bare, lost] = [newDomain(), newDomain()]
    dns.set(bare, { A: ['127.0.0.2'] })
    dns.set(lost, { A: ['127.0.0.2'], ...mx([1, `nowhere.${lost}`]) })
    const server = await at('127.0.0.2')
    const transport = direct()
    expect(kinds(await transport.deliver(envelope(`x@${bare}`), message))).toEqual(['delivered'])
    expect(await transport.deliver(envelope(`x@${lost}`), message)).toMatchObject([
      { kind: 'refused', failed: true, diagnosticCode: '5.4.4' },
    ])
    expect(server.peers).toHaveLength(1)
  })

  test('null MX, an unknown domain, and one that leads back here fail at once, without a connection', async () => {
    const [none, loop, own] = [newDomain(), newDomain(), newDomain()]
    dns.set(none, { A: ['127.0.0.2'], ...mx([0, '.']) })
    dns.set(loop, mx([10, 'here.test'], [20, `b.${loop}`]))
    dns.set(`b.${loop}`, { A: ['127.0.0.2'] })
    dns.set(own, mx([10, `a.${own}`], [20, 'here.test']))
    dns.set(`a.${own}`, { A: ['127.0.0.2'] })
    dns.set('here.test', { A: ['127.0.0.2'] })
    const server = await at('127.0.0.2')
    const transport = direct()
    const codeOf = async (domain: string) => {
      const [outcome] = await transport.deliver(envelope(`x@${domain}`), message)
      return outcome?.kind === 'refused' && outcome.failed ? outcome.diagnosticCode : outcome?.kind
    }
    expect([await codeOf(none), await codeOf('nowhere.invalid'), await codeOf(loop)]).toEqual(['5.1.10', '5.1.2', '5.4.6'])
    expect(server.peers).toHaveLength(0)
    // An MX with a better preference than this server is tried, as for a secondary MX.
    expect(await codeOf(own)).toBe('delivered')
  })

  test('a DNS failure is deferred, and the name is queried again later', async () => {
    const domain = newDomain()
    dns.set(domain, mx([1, `a.${domain}`]))
    dns.set(`a.${domain}`, { A: ['127.0.0.2'] })
    await at('127.0.0.2')
    const transport = direct()
    dns.fail(domain, 'SERVFAIL', 'MX')
    expect(await transport.deliver(envelope(`x@${domain}`), message)).toMatchObject([{ kind: 'retry', diagnosticCode: '4.4.3' }])
    dns.fail(domain, null, 'MX')
    dns.fail(`a.${domain}`, 'SERVFAIL')
    expect(await transport.deliver(envelope(`x@${domain}`), message)).toMatchObject([{ kind: 'retry', diagnosticCode: '4.4.3' }])
    dns.fail(`a.${domain}`, null)
    expect(kinds(await transport.deliver(envelope(`x@${domain}`), message))).toEqual(['delivered'])
  })

  test('private addresses are never dialled, by name or by literal', async () => {
    const server = await at('127.0.0.2')
    const [hidden, mixed] = [newDomain(), newDomain()]
    dns.set(hidden, { ...mx([1, `a.${hidden}`]), A: ['127.0.0.2'] })
    dns.set(`a.${hidden}`, { A: ['127.0.0.2', '10.0.0.1', '169.254.169.254'], AAAA: ['::1', 'fd00::1', '::ffff:127.0.0.2'] })
    dns.set(mixed, mx([1, `a.${mixed}`], [2, '127.0.0.2']))
    dns.set(`a.${mixed}`, { A: ['192.168.0.1'] })
    const transport = direct({ allows: createAddressRules([]).allows })
    for (const address of [`x@${hidden}`, `x@${mixed}`, 'x@[127.0.0.2]', 'x@[IPv6:::1]', 'x@[IPv6:::ffff:127.0.0.2]']) {
      const [outcome] = await transport.deliver(envelope(address), message)
      expect([address, outcome?.kind, outcome?.kind === 'refused' && outcome.diagnosticCode]).toEqual([address, 'refused', '5.4.4'])
    }
    expect(server.peers).toHaveLength(0)
    // The operator may allow a range, and then the same names work.
    expect(kinds(await direct().deliver(envelope(`x@${hidden}`, 'x@[127.0.0.2]'), message))).toEqual(['delivered', 'delivered'])
  })

  test('numeric host names and malformed literals fail at once', async () => {
    for (const address of ['x@127.1', 'x@0x7f000001', 'x@2130706433', 'x@[127.1]'])
      expect(await direct().deliver(envelope(address), message)).toMatchObject([{ kind: 'refused', failed: true }])
  })
})

describe('encryption', () => {
  const authority = createCertificate({ commonName: 'test authority' })
  const trusted = createCertificate({ commonName: 'a.tls.test', dnsNames: ['a.tls.test'], issuer: authority })
  const selfSigned = createCertificate({ commonName: 'a.tls.test' })

  async function tlsServer(host: string, options: SMTPServerOptions): Promise<{ secure: boolean[] }> {
    const secure: boolean[] = []
    const server = new SMTPServer({
      authOptional: true,
      disableReverseLookup: true,
      logger: false,
      onData: (stream, session, callback) => {
        stream.resume()
        stream.on('end', () => {
          secure.push(session.secure)
          callback()
        })
      },
      ...options,
    })
    server.on('error', () => undefined)
    server.listen(port, host)
    await once(server.server, 'listening')
    expect((server.server.address() as AddressInfo).port).toBe(port)
    cleanups.push(() => new Promise<void>((resolve) => server.close(() => resolve())))
    return { secure }
  }
  const policy =
    (mode: TlsPolicy['mode'], ...names: string[]) =>
    async () => ({ mode, mx: names, maxAgeSeconds: 86_400 })
  beforeAll(() => {
    dns.set('tls.test', mx([1, 'a.tls.test'], [2, 'b.tls.test']))
    dns.set('a.tls.test', { A: ['127.0.0.2'] })
    dns.set('b.tls.test', { A: ['127.0.0.3'] })
  })
  const send = (more: Partial<DirectSettings>) => direct(more).deliver(envelope('x@tls.test'), message)

  test('STARTTLS is used where it is offered, with any certificate, and the mail also goes where it is missing or fails', async () => {
    const server = await tlsServer('127.0.0.2', selfSigned)
    const [outcome] = await send({})
    expect(outcome).toMatchObject({ kind: 'delivered', hop: { tls: expect.stringMatching(/^TLSv1\.[23] TLS_/) } })
    expect(server.secure).toEqual([true])
    const clear = await tlsServer('127.0.0.3', { hideSTARTTLS: true })
    dns.set('clear.test', mx([1, 'b.tls.test']))
    expect(await direct().deliver(envelope('x@clear.test'), message)).toMatchObject([{ kind: 'delivered', hop: { tls: null } }])
    expect(clear.secure).toEqual([false])
  })

  test("an enforced policy requires a trusted certificate for the server's name", async () => {
    const server = await tlsServer('127.0.0.2', trusted)
    const outcomes = await send({ findTlsPolicy: policy('enforce', 'a.tls.test'), ca: authority.cert })
    expect(outcomes).toMatchObject([{ kind: 'delivered', hop: { tls: expect.stringMatching(/^TLS/) } }])
    expect(server.secure).toEqual([true])
  })

  test('an enforced policy never permits clear text, an unknown certificate or a server that it does not name', async () => {
    const server = await tlsServer('127.0.0.2', selfSigned)
    const clear = await tlsServer('127.0.0.3', { hideSTARTTLS: true })
    const enforce = (...names: string[]) => send({ findTlsPolicy: policy('enforce', ...names), ca: authority.cert })
    expect(await enforce('a.tls.test')).toMatchObject([{ kind: 'retry', diagnosticCode: '4.7.5' }])
    expect(await enforce('b.tls.test')).toMatchObject([{ kind: 'retry', diagnosticCode: '4.7.10' }])
    expect(await enforce('*.tls.test')).toMatchObject([{ kind: 'retry' }])
    expect(await enforce('elsewhere.test')).toMatchObject([{ kind: 'retry', answer: expect.stringContaining('MTA-STS') }])
    expect([server.secure, clear.secure]).toEqual([[], []])
  })

  test('a policy in testing mode, or none, changes nothing', async () => {
    const server = await tlsServer('127.0.0.2', selfSigned)
    for (const mode of ['testing', 'none'] as const)
      expect(kinds(await send({ findTlsPolicy: policy(mode, 'elsewhere.test') }))).toEqual(['delivered'])
    expect(server.secure).toEqual([true, true])
  })
})

describe('many messages to one destination', () => {
  let domain: string
  beforeEach(() => {
    domain = newDomain()
    dns.set(domain, mx([1, `a.${domain}`]))
    dns.set(`a.${domain}`, { A: ['127.0.0.2'] })
  })

  test('a pool opens five connections, grows to twenty while deliveries succeed, and reuses them', async () => {
    let open = 0
    let peak = 0
    let firstWave = 0
    const server = await at('127.0.0.2', async (peer) => {
      open++
      peak = Math.max(peak, open)
      void peer.gone.then(() => open--)
      await welcome(peer, 'PIPELINING')
      await answer(peer, {
        DATA: '354 go',
        get END() {
          firstWave ||= open
          return '250 taken'
        },
      })
    })
    const transport = direct({ limits: { waitMs: 0 } })
    const outcomes = await Promise.all(Array.from({ length: 200 }, (_, i) => transport.deliver(envelope(`x${i}@${domain}`), message)))
    expect(new Set(kinds(outcomes.flat()))).toEqual(new Set(['delivered']))
    expect(firstWave).toBeLessThanOrEqual(5)
    expect(peak).toBeGreaterThan(5)
    expect(peak).toBeLessThanOrEqual(20)
    expect(server.peers.length).toBeLessThanOrEqual(20)
  })

  test('an unreachable server is skipped for a while, so that later messages do not wait for it', async () => {
    let dials = 0
    await at('127.0.0.2', async (peer) => {
      dials++
      peer.socket.destroy()
    })
    const transport = direct({ restMs: 60_000 })
    for (let i = 0; i < 5; i++) expect(kinds(await transport.deliver(envelope(`x@${domain}`), message))).toEqual(['retry'])
    expect(dials).toBe(1)
  })

  test('a message with a long queue wait is returned untried, so that one slow server does not delay the others', async () => {
    const { promise: asked, resolve: seen } = Promise.withResolvers<void>()
    const { promise: free, resolve: release } = Promise.withResolvers<void>()
    await at('127.0.0.2', async (peer) => {
      await welcome(peer)
      await peer.line()
      seen()
      await free
      peer.socket.destroy()
    })
    const transport = direct({ limits: { connectionsMax: 1, connectionsStart: 1, waitMs: 30 } })
    const first = transport.deliver(envelope(`x@${domain}`), message)
    await asked
    expect(await transport.deliver(envelope(`y@${domain}`), message)).toMatchObject([{ kind: 'retry', isPostponed: true }])
    release()
    expect(await first).toMatchObject([{ kind: 'retry' }])
  })
})
