// Values that are copied with one click, such as ids, codes and DNS records.
import { useState } from 'preact/hooks'
import { Icon } from './icon.tsx'
import { toast } from './toasts.tsx'

const shownMs = 1500

/** Copies text. Returns false when the browser refuses, for example on a page without TLS. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return copyBySelection(text)
  }
}

/** The Clipboard API is missing on plain HTTP, except on localhost. */
function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'visually-hidden'
  // Outside an open dialog nothing can be selected.
  ;(document.querySelector('dialog[open]') ?? document.body).append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  return isCopied
}

type CopyProps = {
  value: string
  /** Shown text, the value by default. */
  text?: string
  /** Name of the value for screen readers, such as "message id". */
  name: string
  /** Shown on hover in place of "Copy the" and the name. */
  title?: string
  isChip?: boolean
  onCopied?: () => void
}

export function Copy({ value, text = value, name, title = `Copy the ${name}`, isChip = false, onCopied }: CopyProps) {
  const [isCopied, setCopied] = useState(false)
  const onClick = async (event: MouseEvent) => {
    event.preventDefault()
    event.stopPropagation()
    if (!(await copyText(value))) return toast({ text: `Copying the ${name} failed. Select and copy it by hand.`, tone: 'bad' })
    setCopied(true)
    onCopied?.()
    setTimeout(() => setCopied(false), shownMs)
  }
  return (
    <button type="button" class={`copy${isChip ? ' chip' : ''}`} onClick={onClick} title={title}>
      <span class={text === value ? 'truncate' : undefined}>{text}</span>
      <Icon name={isCopied ? 'check' : 'copy'} />
      <span class="visually-hidden">{isCopied ? 'Copied' : `Copy the ${name}`}</span>
    </button>
  )
}

/** An id, shortened in the middle. The whole id is copied. */
export function Id({ id, name = 'id' }: { id: string; name?: string }) {
  const [prefix, rest = ''] = id.split('_', 2)
  return <Copy value={id} text={rest.length > 12 ? `${prefix}_${rest.slice(0, 4)}…${rest.slice(-6)}` : id} name={name} />
}

/** A long value in full, such as a key or a DNS record, with a copy button beside it. `onCopied` runs after the value was copied. */
export function WholeValue({ value, name, onCopied }: { value: string; name: string; onCopied?: () => void }) {
  return (
    <span class="whole-value">
      <code class="anywhere">{value}</code>
      <Copy value={value} text="Copy" name={name} {...(onCopied ? { onCopied } : {})} />
    </span>
  )
}
