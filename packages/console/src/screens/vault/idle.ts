// Locks the open vault after a time without use, and when the page has been hidden or is left.
import { signal } from '@preact/signals'
import { lock, rotation, vault } from './vault-worker.ts'

export const idleMs = 5 * 60_000
export const hiddenMs = 60_000

const tickMs = 1000

/** Seconds until the vault locks, or null while it is locked. */
export const secondsLeft = signal<number | null>(null)

/** Starts watching, and returns the function that stops it. */
export function watchIdle(): () => void {
  let usedAt = Date.now()
  let hiddenAt: number | null = null

  const check = () => {
    const now = Date.now()
    // A rotation that runs is a use, because it must not be cut off.
    if (rotation.peek()) usedAt = now
    if (hiddenAt !== null && now - hiddenAt >= hiddenMs && !rotation.peek()) lock('hidden')
    const left = usedAt + idleMs - now
    if (left <= 0) lock('idle')
    secondsLeft.value = vault.peek() ? Math.max(0, Math.ceil(left / 1000)) : null
  }
  const use = () => {
    usedAt = Date.now()
    check()
  }
  const onVisibility = () => {
    check()
    hiddenAt = document.hidden ? Date.now() : null
  }
  const leave = () => lock('left')

  const uses = ['pointerdown', 'pointermove', 'keydown', 'wheel'] as const
  for (const name of uses) addEventListener(name, use, { passive: true })
  document.addEventListener('visibilitychange', onVisibility)
  addEventListener('pagehide', leave)
  const timer = setInterval(check, tickMs)
  const unsubscribe = vault.subscribe(() => use())
  return () => {
    for (const name of uses) removeEventListener(name, use)
    document.removeEventListener('visibilitychange', onVisibility)
    removeEventListener('pagehide', leave)
    clearInterval(timer)
    unsubscribe()
  }
}
