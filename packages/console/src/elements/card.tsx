// A framed part of a screen, with a title and links or buttons beside it.
import type { ComponentChildren } from 'preact'

type CardProps = { title: string; actions?: ComponentChildren; children: ComponentChildren }

export function Card({ title, actions, children }: CardProps) {
  return (
    <section class="card" aria-label={title}>
      <header>
        <h2 class="grow">{title}</h2>
        {actions}
      </header>
      <div class="body stack">{children}</div>
    </section>
  )
}
