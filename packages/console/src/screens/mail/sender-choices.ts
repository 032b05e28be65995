// The choices of a person per sender: mail as text or formatted, with or without remote images. Kept in this browser.

export type SenderChoice = { isText?: boolean; areImagesShown?: boolean }

const storageKey = 'callsign-senders'
/** The senders whose choice is kept, the latest ones. */
const sendersMax = 500

function read(): Record<string, SenderChoice> {
  try {
    return JSON.parse(localStorage.getItem(storageKey) ?? '{}') as Record<string, SenderChoice>
  } catch {
    return {}
  }
}

export const choiceOf = (address: string): SenderChoice => read()[address.toLowerCase()] ?? {}

export function keepChoice(address: string, change: SenderChoice): void {
  const { [address.toLowerCase()]: before, ...others } = read()
  const kept = [...Object.entries(others), [address.toLowerCase(), { ...before, ...change }] as const].slice(-sendersMax)
  try {
    localStorage.setItem(storageKey, JSON.stringify(Object.fromEntries(kept)))
  } catch {
    // Storage may be blocked. The choice then lasts until the message is closed.
  }
}
