// Buttons and links that look like buttons.
import type { ComponentChildren } from 'preact'
import { Icon, type IconName } from './icon.tsx'

type ButtonProps = {
  children?: ComponentChildren
  kind?: 'default' | 'primary' | 'quiet' | 'danger'
  icon?: IconName
  /** Name of a button that shows an icon alone. */
  label?: string
  /** More than the text says, shown on hover. */
  title?: string
  size?: 'small'
  /** Shortcut shown beside the text. */
  shortcut?: string
  isPressed?: boolean
  disabled?: boolean
  type?: 'button' | 'submit'
  form?: string
  onClick?: (event: MouseEvent) => void
}

const classOf = ({ kind = 'default', size, children }: ButtonProps): string =>
  ['button', kind === 'default' ? '' : kind, size ?? '', children === undefined ? 'icon-only' : ''].filter(Boolean).join(' ')

export function Button(props: ButtonProps) {
  const { children, icon, label, title = label, shortcut, isPressed, disabled, type = 'button', form, onClick } = props
  return (
    <button
      type={type}
      class={classOf(props)}
      disabled={disabled}
      form={form}
      onClick={onClick}
      aria-label={label}
      title={title}
      aria-pressed={isPressed}
    >
      {icon && <Icon name={icon} filled={isPressed} />}
      {children}
      {shortcut && <span class="key hide-small">{shortcut}</span>}
    </button>
  )
}

/** A link with the look of a button. */
export function ButtonLink(
  props: Pick<ButtonProps, 'children' | 'kind' | 'icon' | 'size' | 'label'> & { href: string; download?: string },
) {
  const { children, icon, label, href, download } = props
  return (
    <a class={classOf(props)} href={href} download={download} aria-label={label} title={label}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  )
}
