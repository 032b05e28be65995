// Sender authentication by mailauth in its strict mode, an independent implementation to compare results with.
import { arc as checkArc } from 'mailauth/lib/arc/index.js'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { evaluateDmarc } from 'mailauth/lib/dmarc/index.js'
import { spf as checkSpf } from 'mailauth/lib/spf/index.js'
import type { DnsAnswer, MxRecord, Resolver } from '../../src/dns.ts'

export type OracleVerdicts = { spf: string; dkim: string[]; dmarc: string; policy: string | null; arc: string }

type Message = { envelopeFrom: string; client: { address: string; name: string }; raw: Buffer }

const codes = { 'no-name': 'ENOTFOUND', 'no-data': 'ENODATA', failure: 'ETIMEOUT' } as const

/** Results in mailauth's terms, per signature, with the applicable policy. `dmarc` is 'permerror' without a single author. */
export async function checkWithMailauth({ envelopeFrom, client, raw }: Message, resolver: Resolver): Promise<OracleVerdicts> {
  const common = { resolver: questioner(resolver), strict: true as const }
  const spf = await checkSpf({ ...common, sender: envelopeFrom, ip: client.address, helo: client.name, mta: 'mx.example' })
  const dkim = await dkimVerify(raw, { ...common, sender: envelopeFrom || '<>' })
  const arc = dkim.arc ? await checkArc(dkim.arc as Parameters<typeof checkArc>[0], common) : null
  const passed = dkim.results.filter((one) => one.status.result === 'pass' && !one.status.underSized)
  const dmarc = await evaluateDmarc({
    ...common,
    headerFrom: dkim.headerFrom,
    fromFields: dkim.fromFields,
    spfDomains: spf.status.result === 'pass' ? [spf.domain] : [],
    dkimDomains: passed.map((one) => ({ id: one.id, domain: one.signingDomain, aligned: one.status.aligned })),
  } as unknown as Parameters<typeof evaluateDmarc>[0])
  return {
    spf: String(spf.status.result),
    dkim: dkim.results.map((one) => String(one.status.result)).filter((result) => result !== 'none'),
    dmarc: dmarc.response ? String(dmarc.response.status.result) : 'permerror',
    policy: (dmarc.response ? dmarc.response.policy : '') || null,
    arc: arc?.status.result ?? 'none',
  }
}

/** Our resolver as mailauth wants it, rejecting with the codes of c-ares. */
function questioner(resolver: Resolver) {
  return async (name: string, type: string): Promise<string[][]> => {
    const answer = await questionOf(resolver, name, type)
    if (answer.kind !== 'found') throw Object.assign(new Error(answer.kind), { code: codes[answer.kind] })
    // Its types declare TXT records only. Addresses are strings, and mail hosts are objects.
    return answer.records.map((record) => toMailauth(type, record)) as string[][]
  }
}

function toMailauth(type: string, record: unknown): unknown {
  if (type === 'TXT') return [record]
  if (type !== 'MX') return record
  const { exchange, preference } = record as MxRecord
  return { exchange, priority: preference }
}

function questionOf(resolver: Resolver, name: string, type: string): Promise<DnsAnswer<unknown>> {
  const questions: Record<string, (name: string) => Promise<DnsAnswer<unknown>>> = {
    TXT: resolver.txt,
    MX: resolver.mx,
    A: resolver.a,
    AAAA: resolver.aaaa,
    CNAME: resolver.cname,
    PTR: resolver.ptr,
  }
  return (questions[type] as (name: string) => Promise<DnsAnswer<unknown>>)(name)
}
