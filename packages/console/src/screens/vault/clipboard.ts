// Copies secrets, and empties the clipboard again where the browser permits it.
import { copyText } from '../../elements/copy.tsx'
import { toast } from '../../elements/toasts.tsx'

/** A copied secret stays in the clipboard this long. */
export const copiedMs = 30_000

let copied: string | null = null
let timer: ReturnType<typeof setTimeout> | undefined

export async function copySecret(text: string, name: string): Promise<boolean> {
  if (!(await copyText(text))) {
    toast({ text: `Copying the ${name} failed. Reveal it and copy it by hand.`, tone: 'bad' })
    return false
  }
  copied = text
  clearTimeout(timer)
  timer = setTimeout(() => void clearCopied(), copiedMs)
  toast({ text: `Copied the ${name}. The clipboard is emptied in ${copiedMs / 1000} seconds.` })
  return true
}

/** Empties the clipboard if it may still hold a copied secret. A page without focus cannot, and tries again when it gets it. */
export async function clearCopied(): Promise<void> {
  if (copied === null) return
  clearTimeout(timer)
  if (!document.hasFocus()) {
    addEventListener('focus', () => void clearCopied(), { once: true })
    return
  }
  const text = copied
  copied = null
  try {
    if (await isReplaced(text)) return
    await navigator.clipboard.writeText('')
  } catch {
    toast({ text: 'The browser did not let the page empty the clipboard. Copy something else.', tone: 'bad' })
  }
}

/** True when the person has copied something else. Browsers that would ask before reading are not asked. */
async function isReplaced(text: string): Promise<boolean> {
  try {
    const { state } = await navigator.permissions.query({ name: 'clipboard-read' as PermissionName })
    return state === 'granted' && (await navigator.clipboard.readText()) !== text
  } catch {
    return false
  }
}
