// The page to return to after sign-in: the consent page of an app that connects, or the vault.
const storageName = 'callsign-next'

/** Only these two pages, so that a link cannot lead a person anywhere else after sign-in. */
const permitted = /^\/console\/(connect\?[^#]*|vault)$/

/** Keeps the `next` of the address for this tab, because single sign-on leaves the page, and removes it from the address. */
export function keepReturnAddress(): void {
  const next = new URLSearchParams(location.search).get('next')
  if (next === null) return
  history.replaceState(null, '', location.pathname + location.hash)
  if (permitted.test(next)) sessionStorage.setItem(storageName, next)
}

/** Goes to the kept page once, if there is one. */
export function followReturnAddress(): void {
  const next = sessionStorage.getItem(storageName)
  sessionStorage.removeItem(storageName)
  if (next !== null && permitted.test(next)) location.assign(next)
}
