// The frame of every screen, with title, actions and body.
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'

type ScreenProps = {
  title: string
  /** Short text beside the title, such as a count. */
  note?: ComponentChildren
  actions?: ComponentChildren
  /** The body fills the screen without padding and scrolls its own parts. */
  isFlush?: boolean
  children: ComponentChildren
}

export function Screen({ title, note, actions, isFlush = false, children }: ScreenProps) {
  useEffect(() => {
    document.title = `${title} – Callsign`
  }, [title])
  return (
    <section class="screen" aria-label={title}>
      <header class="screen-header">
        <h1>{title}</h1>
        {note && <span class="faint">{note}</span>}
        {actions && <div class="actions">{actions}</div>}
      </header>
      <div class={`screen-body${isFlush ? ' flush' : ''}`}>{children}</div>
    </section>
  )
}
