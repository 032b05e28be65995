// Results of SPF, DKIM, DMARC and ARC with the domains that were compared.
import type { Message } from '@callsign/sdk'
import type { ComponentChildren } from 'preact'
import { Badge, type Tone } from '../../elements/badge.tsx'
import { Empty } from '../../elements/empty.tsx'

type Authentication = Message['authentication']

const toneOf = (result: string): Tone =>
  result === 'pass' ? 'good' : result === 'fail' || result === 'permerror' ? 'bad' : result === 'none' ? 'neutral' : 'warn'

type CheckProps = { name: string; result: string; reason?: string | null; facts: [string, ComponentChildren][] }

function Check({ name, result, reason, facts }: CheckProps) {
  return (
    <div class="card">
      <header>
        <h2 class="grow">{name}</h2>
        <Badge tone={toneOf(result)}>{result}</Badge>
      </header>
      <div class="body stack">
        {reason && <p>{reason}</p>}
        <dl class="facts">
          {facts
            .filter(([, value]) => value !== null && value !== '')
            .map(([title, value]) => [
              <dt key={`${title}-title`}>{title}</dt>,
              <dd key={title} class="mono">
                {value}
              </dd>,
            ])}
        </dl>
      </div>
    </div>
  )
}

export function AuthenticationTab({ authentication }: { authentication: Authentication }) {
  const { source, spf, dkim, dmarc, arc } = authentication
  if (source === 'hosted') {
    return (
      <Empty icon="check" title="Sent by an agent on this server">
        Mail between agents does not leave the server, so its sender is known without SPF, DKIM and DMARC.
      </Empty>
    )
  }
  return (
    <div class="checks">
      {dmarc && <Dmarc dmarc={dmarc} />}
      {spf && (
        <Check
          name="SPF"
          result={spf.result}
          reason={spf.reason}
          facts={[
            ['Domain', spf.domain],
            ['Identity', spf.identity],
            ['Client', spf.client_ip],
            ['Record', spf.record],
          ]}
        />
      )}
      {dkim && <Dkim dkim={dkim} />}
      {arc && (
        <Check
          name="ARC"
          result={arc.result}
          reason={arc.reason}
          facts={[
            ['Seals', String(arc.chain_length)],
            ['Domain', arc.domain],
          ]}
        />
      )}
    </div>
  )
}

function Dmarc({ dmarc }: { dmarc: NonNullable<Authentication['dmarc']> }) {
  const aligned = [dmarc.alignment.spf && 'SPF', dmarc.alignment.dkim && 'DKIM'].filter(Boolean).join(' and ')
  return (
    <Check
      name="DMARC"
      result={dmarc.result}
      reason={dmarc.reason}
      facts={[
        ['From domain', dmarc.domain],
        ['Policy domain', dmarc.policy_domain],
        ['Policy', dmarc.policy],
        ['Aligned', aligned || 'neither SPF nor DKIM'],
        ['Record', dmarc.record],
      ]}
    />
  )
}

function Dkim({ dkim }: { dkim: NonNullable<Authentication['dkim']> }) {
  return (
    <>
      <Check
        name="DKIM"
        result={dkim.result}
        facts={[
          ['Domain', dkim.domain],
          ['Signatures', String(dkim.signatures.length)],
        ]}
      />
      {dkim.signatures.map((signature) => (
        <Check
          key={`${signature.domain} ${signature.selector}`}
          name={`Signature of ${signature.domain ?? 'an unknown domain'}`}
          result={signature.result}
          reason={signature.reason}
          facts={[
            ['Selector', signature.selector],
            ['Algorithm', signature.algorithm],
            ['Aligned', signature.is_aligned ? 'with the domain in From' : 'not with the domain in From'],
            ['Unsigned bytes', signature.unsigned_bytes > 0 ? String(signature.unsigned_bytes) : null],
          ]}
        />
      ))}
    </>
  )
}
