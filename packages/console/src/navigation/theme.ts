// Dark or light, as the system says or as the person chose.
import { signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'
const storageKey = 'callsign-theme'

function stored(): Theme {
  try {
    const value = localStorage.getItem(storageKey)
    return value === 'light' || value === 'dark' ? value : 'system'
  } catch {
    return 'system'
  }
}

export const theme = signal<Theme>(stored())

theme.subscribe((value) => {
  if (value === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = value
  try {
    localStorage.setItem(storageKey, value)
  } catch {
    // Storage may be blocked. The choice then lasts until the page is closed.
  }
})
