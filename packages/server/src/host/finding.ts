// A finding of `callsignd doctor`, as a sentence with its severity.

/** `ok` needs no action, `note` is information, `attention` is a present or coming failure. The text ends with the action, if there is one. */
export type Finding = { state: 'ok' | 'note' | 'attention'; text: string }

export const ok = (text: string): Finding => ({ state: 'ok', text })
export const note = (text: string): Finding => ({ state: 'note', text })
export const attention = (text: string): Finding => ({ state: 'attention', text })

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Whole days from now until a moment. Negative after it. */
export const daysUntil = (at: Date, nowMs: number): number => Math.floor((at.getTime() - nowMs) / 86_400_000)

/** Certificates that end sooner need attention. */
export const expirySoonDays = 14
