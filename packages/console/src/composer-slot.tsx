// Loads the composer in the background, and again when it is opened and the first attempt failed.
import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { toastError } from './elements/toasts.tsx'
import { loadCode } from './load-code.ts'
import { type Composing, composing } from './screens/mail/composer-state.ts'

/** A new message to write is a new composer, with the cursor in its field. */
const keyOf = (current: Composing): string =>
  JSON.stringify(current.kind === 'draft' || current.kind === 'new' ? current : [current.kind, current.message.id])

type Loaded = { component: ComponentType<{ composing: Composing }> }

export function ComposerSlot() {
  const loaded = useSignal<Loaded | null>(null)
  const current = composing.value
  // Loaded before it is needed, so that the cursor is in the text as soon as a person starts to type.
  useEffect(() => {
    if (loaded.peek()) return
    loadCode(() => import('./screens/mail/composer.tsx')).then(
      (module) => {
        loaded.value = { component: module.default }
      },
      current ? toastError : () => {},
    )
  }, [current])
  const Composer = loaded.value?.component
  return current && Composer ? <Composer key={keyOf(current)} composing={current} /> : null
}
