// Splits `display name <address>` and makes short names of it.
export type Address = { name: string; address: string }

/** The address and its display name, which is empty when there is none. */
export function parseAddress(text: string): Address {
  const match = /^\s*"?(.*?)"?\s*<([^<>]*)>\s*$/.exec(text)
  return match ? { name: (match[1] ?? '').replace(/\\(.)/g, '$1'), address: match[2] as string } : { name: '', address: text.trim() }
}

/** The display name, or the address without one. */
export function nameOf(text: string): string {
  const { name, address } = parseAddress(text)
  return name || address || 'Unknown sender'
}

/** Splits a recipient field at commas that are not inside quotes. */
export function splitAddresses(text: string): string[] {
  return (text.match(/(?:"(?:[^"\\]|\\.)*"|[^,;"])+/g) ?? []).map((part) => part.trim()).filter(Boolean)
}

/** One or two initials, shown in a circle beside the name. */
export function initialsOf(text: string): string {
  const words = nameOf(text)
    .replace(/@.*/, '')
    .split(/[\s._-]+/)
    .filter(Boolean)
  return ((words[0]?.[0] ?? '?') + (words.length > 1 ? (words.at(-1)?.[0] ?? '') : '')).toUpperCase()
}
