// The SDK of Resend, pointed at a server of a test.
import { Resend } from 'resend'
import { expect } from 'vitest'
import type { Harness } from './start.ts'

export const createResend = (harness: Harness, key = harness.organizationKey): Resend =>
  new Resend(key, { baseUrl: `${harness.baseUrl}/compat/resend` })

/** The data of a result. Fails with the error of the SDK. */
export async function dataOf<T>(result: PromiseLike<{ data: T | null; error: unknown }>): Promise<NonNullable<T>> {
  const { data, error } = await result
  expect(error).toBeNull()
  return data as NonNullable<T>
}
