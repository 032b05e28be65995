// Changes between versions of a draft.
import type { Draft } from '@callsign/sdk'
import { useState } from 'preact/hooks'
import { useQuery } from '../../cache/query.ts'
import { Button } from '../../elements/button.tsx'
import { Select } from '../../elements/fields.tsx'
import { client } from '../../session/client.ts'
import { diffText } from './text-diff.ts'

type Version = Pick<
  Draft,
  'version' | 'from' | 'to' | 'cc' | 'bcc' | 'reply_to' | 'subject' | 'text' | 'html' | 'headers' | 'automatic'
> & {
  attachments: { filename: string; size_bytes: number }[]
}

/** The parts of a draft that a person compares, as text. */
const partsOf = (version: Version): [string, string][] => [
  ['From', version.from ?? ''],
  ['Recipients', [...version.to, ...version.cc, ...version.bcc].join(', ')],
  ['Reply-To', version.reply_to.join(', ')],
  [
    'Headers',
    [...Object.entries(version.headers), ...(version.automatic ? [['Auto-Submitted', 'auto-generated']] : [])]
      .map((one) => one.join(': '))
      .join('\n'),
  ],
  ['Files', version.attachments.map((file) => `${file.filename} (${file.size_bytes} bytes)`).join('\n')],
  ['Subject', version.subject ?? ''],
  ['Text', version.text ?? ''],
  ['Formatted', version.html ?? ''],
]

export function DraftChanges({ handle, draft }: { handle: string; draft: Draft }) {
  const [isOpen, setOpen] = useState(false)
  if (!isOpen) {
    return (
      <div>
        <Button size="small" onClick={() => setOpen(true)}>
          Show the changes
        </Button>
      </div>
    )
  }
  return <Changes handle={handle} draft={draft} />
}

function Changes({ handle, draft }: { handle: string; draft: Draft }) {
  const query = useQuery(`draft-versions ${draft.id} ${draft.version}`, async () => (await client.drafts.versions(handle, draft.id)).data)
  const versions = query.data.value ?? []
  const [chosen, setChosen] = useState('')
  const before = versions.find((one) => String(one.version) === chosen) ?? versions[0]
  if (!before)
    return <p class="faint">{query.error.value?.message ?? (query.data.value ? 'Earlier versions are no longer kept.' : 'Loading')}</p>
  const after = partsOf(draft)
  const changed = partsOf(before).flatMap(([title, text], index) => {
    const next = after[index]?.[1] ?? ''
    return text === next ? [] : [{ title, parts: diffText(text, next) }]
  })
  return (
    <section class="card" aria-label="Changes">
      <header>
        <h3 class="grow">Changes to version {draft.version}</h3>
        <Select
          label="Since"
          isLabelHidden
          value={String(before.version)}
          options={versions.map((one) => ({ value: String(one.version), label: `since version ${one.version}` }))}
          onChange={setChosen}
        />
      </header>
      <div class="body stack">
        {changed.length === 0 && <p class="faint">Nothing that recipients get has changed.</p>}
        {changed.map(({ title, parts }) => (
          <div key={title}>
            <h3>{title}</h3>
            <p class="diff">
              {parts.map((part, index) => {
                const key = `${index}-${part.kind}`
                if (part.kind === 'same') return <span key={key}>{part.text}</span>
                return part.kind === 'added' ? <ins key={key}>{part.text}</ins> : <del key={key}>{part.text}</del>
              })}
            </p>
          </div>
        ))}
      </div>
    </section>
  )
}
