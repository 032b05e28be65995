// The header fields of a raw message with its route, and the source.
import { useQuery } from '../../cache/query.ts'
import { Badge } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Failure, Loading } from '../../elements/empty.tsx'
import { Table } from '../../elements/table.tsx'
import { duration } from '../../elements/time.tsx'
import { client } from '../../session/client.ts'
import { parseHeader, type RouteStep, readRoute } from './header-fields.ts'

const shownCharactersMax = 200_000
const slowStepMs = 60_000

const useRaw = (handle: string, id: string) => useQuery(`raw ${id}`, () => client.messages.raw(handle, id))

/** Bytes as characters. Invalid UTF-8 is shown byte by byte. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder('latin1').decode(bytes)
  }
}

export function HeadersTab({ handle, id }: { handle: string; id: string }) {
  const raw = useRaw(handle, id)
  const bytes = raw.data.value
  if (!bytes) return raw.error.value ? <Failure error={raw.error.value} onRetry={() => void raw.reload()} /> : <Loading />
  const fields = parseHeader(decode(bytes))
  const steps = readRoute(fields)
  return (
    <div class="stack">
      {steps.length > 0 && <Route steps={steps} />}
      <dl class="facts header-fields">
        {fields.map(({ name, value }, index) => {
          const key = `${index}-${name}`
          return [
            <dt key={`${key}-name`} class="mono">
              {name}
            </dt>,
            <dd key={key} class="mono">
              {value}
            </dd>,
          ]
        })}
      </dl>
    </div>
  )
}

function Route({ steps }: { steps: RouteStep[] }) {
  const total = steps.reduce((sum, step) => sum + Math.max(0, step.delayMs ?? 0), 0)
  return (
    <div class="card">
      <header>
        <h2 class="grow">Route</h2>
        <span class="faint">
          {steps.length} {steps.length === 1 ? 'server' : 'servers'}, {duration(total)}
        </span>
      </header>
      <Table
        name="Route of the message"
        items={steps}
        keyOf={(step) => `${step.by} ${step.at} ${step.from}`}
        columns={[
          { title: 'From', cell: (step) => <span class="mono">{step.from || '–'}</span> },
          { title: 'By', cell: (step) => <span class="mono">{step.by || '–'}</span> },
          { title: 'Protocol', cell: (step) => step.protocol, isMinor: true },
          { title: 'Time', cell: (step) => (step.at === null ? '–' : new Date(step.at).toLocaleString()), isMinor: true },
          { title: 'Delay', cell: (step) => <Delay step={step} />, isNumber: true },
        ]}
      />
    </div>
  )
}

function Delay({ step }: { step: RouteStep }) {
  if (step.delayMs === null) return <span class="faint">–</span>
  return <Badge tone={step.delayMs > slowStepMs ? 'warn' : 'neutral'}>{step.delayMs < 0 ? 'clock differs' : duration(step.delayMs)}</Badge>
}

export function RawTab({ handle, id }: { handle: string; id: string }) {
  const raw = useRaw(handle, id)
  const bytes = raw.data.value
  if (!bytes) return raw.error.value ? <Failure error={raw.error.value} onRetry={() => void raw.reload()} /> : <Loading />
  const text = decode(bytes)
  const download = () => {
    const url = URL.createObjectURL(new Blob([bytes], { type: 'message/rfc822' }))
    const link = document.createElement('a')
    link.href = url
    link.download = `${id}.eml`
    link.click()
    URL.revokeObjectURL(url)
  }
  return (
    <div class="stack">
      <div class="row">
        <Button icon="download" onClick={download}>
          Download as .eml
        </Button>
        {text.length > shownCharactersMax && <span class="faint">Only the first 200,000 characters are shown.</span>}
      </div>
      <pre class="pre">{text.slice(0, shownCharactersMax)}</pre>
    </div>
  )
}
