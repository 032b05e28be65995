// Keyboard shortcuts. Screens register theirs while they are mounted, and the help overlay lists them.
import { signal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'

export type Shortcut = {
  /** One key such as `j`, or two in sequence such as `g i`. */
  keys: string
  label: string
  run: () => void
}

/** Registered groups, the newest last. The newest group with a key wins. */
export const shortcutGroups = signal<{ title: string; shortcuts: Shortcut[] }[]>([])

/** True while a message is being written. Keys then belong to the text, wherever the focus is. */
export const areShortcutsPaused = signal(false)

/** A second key counts as a sequence within this time. */
const sequenceMs = 900
let first = ''
let firstAt = 0

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) && !isCheckbox(target)
const isCheckbox = (target: HTMLElement): boolean => target instanceof HTMLInputElement && target.type === 'checkbox'

function find(keys: string): Shortcut | undefined {
  for (const group of shortcutGroups.peek().toReversed()) {
    const shortcut = group.shortcuts.find((one) => one.keys === keys)
    if (shortcut) return shortcut
  }
  return undefined
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
  if (areShortcutsPaused.peek() || document.querySelector('dialog[open]')) return
  const isSequence = first !== '' && Date.now() - firstAt < sequenceMs
  const shortcut = (isSequence && find(`${first} ${event.key}`)) || find(event.key)
  first = event.key === 'g' ? 'g' : ''
  firstAt = Date.now()
  if (!shortcut) return
  event.preventDefault()
  first = ''
  shortcut.run()
}

/** Listens on the document. Called once. */
export function listenForShortcuts(): () => void {
  document.addEventListener('keydown', onKey)
  return () => document.removeEventListener('keydown', onKey)
}

/** The keys of the command palette, as this system writes them. */
export const paletteKeys = /Mac|iPhone|iPad/.test(navigator.userAgent) ? '⌘K' : 'Ctrl K'

/** Opens the palette from anywhere, also while a person types. An open dialog keeps the key. */
export function listenForPalette(open: () => void): () => void {
  const onPaletteKey = (event: KeyboardEvent) => {
    if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.altKey || event.shiftKey) return
    event.preventDefault()
    if (!document.querySelector('dialog[open]')) open()
  }
  document.addEventListener('keydown', onPaletteKey)
  return () => document.removeEventListener('keydown', onPaletteKey)
}

/** Registers shortcuts while the component is mounted. */
export function useShortcuts(title: string, shortcuts: Shortcut[]): void {
  const latest = useRef(shortcuts)
  latest.current = shortcuts
  const keys = shortcuts.map((one) => one.keys).join()
  // Registered before the screen is painted, so that a key pressed at the first sight of it counts.
  useLayoutEffect(() => {
    const stable = latest.current.map((one) => ({
      ...one,
      run: () => latest.current.find((current) => current.keys === one.keys)?.run(),
    }))
    const group = { title, shortcuts: stable }
    shortcutGroups.value = [...shortcutGroups.peek(), group]
    return () => {
      shortcutGroups.value = shortcutGroups.peek().filter((one) => one !== group)
    }
  }, [title, keys])
}
