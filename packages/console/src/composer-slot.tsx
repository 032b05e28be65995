// Loads the composer when it is opened for the first time.
import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { toastError } from './elements/toasts.tsx'
import { type Composing, composing } from './screens/mail/composer-state.ts'

type Loaded = { component: ComponentType<{ composing: Composing }> }

export function ComposerSlot() {
  const loaded = useSignal<Loaded | null>(null)
  const current = composing.value
  useEffect(() => {
    if (!current || loaded.peek()) return
    import('./screens/mail/composer.tsx').then((module) => {
      loaded.value = { component: module.default }
    }, toastError)
  }, [current])
  const Composer = loaded.value?.component
  return current && Composer ? <Composer composing={current} /> : null
}
