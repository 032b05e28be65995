// The empty, loading and failed states of a list or page.
import { ApiError } from '@callsign/sdk'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from './button.tsx'
import { Copy } from './copy.tsx'
import { Icon, type IconName } from './icon.tsx'
import type { Samples } from './samples.ts'
import { Tabs } from './tabs.tsx'

const sampleTabs = [
  { id: 'curl', label: 'curl' },
  { id: 'sdk', label: 'SDK' },
  { id: 'cli', label: 'CLI' },
] as const

/** One call as curl, SDK and CLI, with a copy button. `names` renames the tabs. */
export function CodeSamples({ samples, names = {} }: { samples: Samples; names?: Partial<Record<keyof Samples, string>> }) {
  const [form, setForm] = useState<keyof Samples>('curl')
  const code = samples[form]
  return (
    <div class="sample">
      <Tabs
        tabs={sampleTabs.map((tab) => ({ ...tab, label: names[tab.id] ?? tab.label }))}
        selected={form}
        name="Form of the call"
        onSelect={setForm}
      />
      <div class="sample-copy">
        <Copy value={code} text="Copy" name="code" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide sample scrolls, so it needs the keyboard */}
      <pre tabIndex={0}>
        <code>{code}</code>
      </pre>
    </div>
  )
}

type EmptyProps = { icon: IconName; title: string; children?: ComponentChildren; samples?: Samples; action?: ComponentChildren }

/** Nothing there yet, and the call that changes this. */
export function Empty({ icon, title, children, samples, action }: EmptyProps) {
  return (
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action}
      {samples && <CodeSamples samples={samples} />}
    </div>
  )
}

/** A failed request, with its request id and a way to repeat it. */
export function Failure({ error, onRetry }: { error: Error; onRetry?: () => void }) {
  const requestId = error instanceof ApiError ? error.requestId : null
  // The server refuses an id of the wrong form before it looks for the object.
  const isMissing = error instanceof ApiError && (error.status === 404 || (error.status === 400 && error.code === 'validation_error'))
  return (
    <div class="empty" role="alert">
      <Icon name="alert" />
      <h2>{isMissing ? 'Not found' : 'Loading failed'}</h2>
      <p>{isMissing ? 'There is nothing at this address. It may have been deleted, or the address is misspelt.' : error.message}</p>
      {requestId && <Copy value={requestId} text={`Request ${requestId}`} name="request id" />}
      {onRetry && !isMissing && (
        <Button icon="refresh" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  )
}

/** Grey lines in the shape of a list, shown while it loads. */
export function Loading({ lines = 6 }: { lines?: number }) {
  return (
    <div class="loading" role="status">
      <span class="visually-hidden">Loading</span>
      {Array.from({ length: lines }, (_, index) => (
        <div class="skeleton" key={index} />
      ))}
    </div>
  )
}
