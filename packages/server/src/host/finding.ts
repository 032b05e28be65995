// What callsignd doctor finds: a sentence, and whether somebody should act on it.

/** `ok` works, `note` is worth knowing, `attention` keeps something from working, or soon will. */
export type Finding = { state: 'ok' | 'note' | 'attention'; text: string }

export const ok = (text: string): Finding => ({ state: 'ok', text })
export const note = (text: string): Finding => ({ state: 'note', text })
export const attention = (text: string): Finding => ({ state: 'attention', text })

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
