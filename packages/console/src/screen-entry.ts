// The form of an entry in the table of screens, and the properties of every screen.
import type { ComponentType } from 'preact'
import type { IconName } from './elements/icon.tsx'
import type { Role } from './session/console-api.ts'

/** `parts` are the segments of the address after the screen's own. */
export type ScreenProps = { parts: string[] }

export type ScreenEntry = {
  /** First segment of the address. */
  name: string
  title: string
  icon: IconName
  /** Heading in the navigation. null leaves the screen out of it. */
  group: string | null
  /** Second key of the shortcut that begins with `g`. */
  key?: string
  roles: readonly Role[]
  /** null for a page of its own, which the browser loads. */
  load: (() => Promise<{ default: ComponentType<ScreenProps> }>) | null
}
