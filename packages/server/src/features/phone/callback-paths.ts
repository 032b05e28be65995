// Addresses of provider callbacks, each with a secret part.
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ProviderName } from './provider.ts'

export interface CallbackPaths {
  /** The path that the provider posts its callbacks to. */
  of(name: ProviderName): string
  /** True when a callback for this provider carries the right secret part. */
  isRight(name: string, token: string): boolean
}

/** Derives the secret parts from a key, so that every node has the same ones after every start. */
export function createCallbackPaths(routeKey: Buffer): CallbackPaths {
  const tokenOf = (name: string): string => createHmac('sha256', routeKey).update(`phone ${name}`).digest('base64url').slice(0, 32)
  return {
    of: (name) => `/hooks/phone/${name}/${tokenOf(name)}`,
    isRight(name, token) {
      const [expected, actual] = [Buffer.from(tokenOf(name)), Buffer.from(token)]
      return actual.length === expected.length && timingSafeEqual(actual, expected)
    },
  }
}
