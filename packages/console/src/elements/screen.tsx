// The frame of every screen, with title, actions and body.
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { ButtonLink } from './button.tsx'

type ScreenProps = {
  title: string
  /** Short text beside the title, such as a count. */
  note?: ComponentChildren
  actions?: ComponentChildren
  /** The screen above this one. */
  back?: { href: string; label: string }
  /** The body fills the screen without padding and scrolls its own parts. */
  isFlush?: boolean
  children: ComponentChildren
}

export function Screen({ title, note, actions, back, isFlush = false, children }: ScreenProps) {
  useEffect(() => {
    document.title = `${title} – Callsign`
  }, [title])
  return (
    <section class="screen" aria-label={title}>
      <header class="screen-header">
        {back && <ButtonLink kind="quiet" icon="back" href={back.href} label={back.label} />}
        <h1>{title}</h1>
        {note && <span class="faint">{note}</span>}
        {actions && <div class="actions">{actions}</div>}
      </header>
      <div class={`screen-body${isFlush ? ' flush' : ''}`}>{children}</div>
    </section>
  )
}
