// Names of the screens that the session may open. The shell sets them, because the table of screens imports the screens.
import { signal } from '@preact/signals'

export const screenNames = signal<string[]>([])
