// Small labels for states, and coloured notices for sentences.
import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent'

type BadgeProps = { children: ComponentChildren; tone?: Tone; icon?: IconName; title?: string | undefined }

export function Badge({ children, tone = 'neutral', icon, title }: BadgeProps) {
  return (
    <span class={`badge ${tone}`} title={title}>
      {icon && <Icon name={icon} />}
      {children}
    </span>
  )
}

const noticeIcons: Record<Tone, IconName> = { neutral: 'info', good: 'check', warn: 'alert', bad: 'alert', accent: 'info' }

/** A sentence that needs attention. */
export function Notice({ children, tone = 'neutral' }: { children: ComponentChildren; tone?: Tone }) {
  return (
    <div class={`notice ${tone}`}>
      <Icon name={noticeIcons[tone]} />
      <div class="grow">{children}</div>
    </div>
  )
}
