// Chooses a new vault key, generated or typed twice, and shows recovery codes.
import { generateVaultKey, newVaultKeyBytes } from '@callsign/sdk/vault'
import { useState } from 'preact/hooks'
import { Notice } from '../../elements/badge.tsx'
import { Button } from '../../elements/button.tsx'
import { Checkbox, TextField } from '../../elements/fields.tsx'
import { Tabs } from '../../elements/tabs.tsx'
import { copySecret } from './clipboard.ts'
import { strengthOf } from './key-strength.ts'

const ways = [
  { id: 'generated', label: 'Generate' },
  { id: 'own', label: 'Choose your own' },
] as const

/** Reports the chosen key, or null while it is incomplete. */
export function NewKeyFields({ onChange }: { onChange: (key: string | null) => void }) {
  const [way, setWay] = useState<'generated' | 'own'>('generated')
  const select = (next: typeof way) => {
    setWay(next)
    onChange(null)
  }
  return (
    <Tabs tabs={ways} selected={way} name="New vault key" onSelect={select}>
      {way === 'generated' ? <GeneratedKey onChange={onChange} /> : <OwnKey onChange={onChange} />}
    </Tabs>
  )
}

type KeyProps = { onChange: (key: string | null) => void }

function GeneratedKey({ onChange }: KeyProps) {
  const [key] = useState(generateVaultKey)
  return (
    <div class="stack">
      <p class="muted">160 random bits. Keep it in a password manager or on paper. The server cannot reset it.</p>
      <OnceShown name="vault key" file="vault-key.txt" lines={[key]} />
      <StoredCheck label="I have stored the vault key" onChange={(isStored) => onChange(isStored ? key : null)} />
    </div>
  )
}

function StoredCheck({ label, onChange }: { label: string; onChange: (isStored: boolean) => void }) {
  const [isStored, setStored] = useState(false)
  const toggle = (next: boolean) => {
    setStored(next)
    onChange(next)
  }
  return <Checkbox label={label} checked={isStored} onChange={toggle} />
}

function OwnKey({ onChange }: KeyProps) {
  const [key, setKey] = useState('')
  const [again, setAgain] = useState('')
  const problem = problemOf(key)
  const { label, tone, bits } = strengthOf(key)
  const update = (first: string, second: string) => {
    setKey(first)
    setAgain(second)
    onChange(first === second && problemOf(first) === null ? first : null)
  }
  return (
    <div class="stack">
      <TextField
        label="New vault key"
        type="password"
        value={key}
        onInput={(value) => update(value, again)}
        error={key === '' ? null : problem}
        hint="At least 16 characters. Six or more random words are easy to type."
        autoComplete="off"
        isMono
      />
      {key !== '' && problem === null && (
        <p class={`strength ${tone}`}>
          <meter min={0} max={160} value={Math.min(bits, 160)} aria-label="Strength" /> {label}
        </p>
      )}
      <TextField
        label="Repeat the vault key"
        type="password"
        value={again}
        onInput={(value) => update(key, value)}
        error={again === '' || again === key ? null : 'The two keys differ.'}
        isMono
      />
    </div>
  )
}

function problemOf(key: string): string | null {
  try {
    newVaultKeyBytes(key).fill(0)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

type OnceProps = { name: string; file: string; lines: string[] }

/** Values that are shown once, with ways to keep them. */
function OnceShown({ name, file, lines }: OnceProps) {
  const text = lines.join('\n')
  return (
    <div class="once">
      <ul class="once-lines" aria-label={name}>
        {lines.map((line) => (
          <li key={line} class="mono">
            {line}
          </li>
        ))}
      </ul>
      <div class="row">
        <Button icon="copy" onClick={() => void copySecret(text, name)}>
          Copy
        </Button>
        <Button icon="download" onClick={() => saveText(file, `${text}\n`)}>
          Download
        </Button>
      </div>
    </div>
  )
}

/** Recovery codes with a confirmation that they are stored. */
export function RecoveryCodes({ codes, onStored }: { codes: string[]; onStored: (isStored: boolean) => void }) {
  return (
    <div class="stack">
      <Notice tone="warn">
        Each code opens the vault once, to set a new vault key. Store them away from the vault key. They are not shown again.
      </Notice>
      <OnceShown name="recovery codes" file="vault-recovery-codes.txt" lines={codes} />
      <StoredCheck label="I have stored the recovery codes" onChange={onStored} />
    </div>
  )
}

/** Saves a text as a file of the person's choice. */
function saveText(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
