// The order in which a request to the API of another service is admitted.
import { describe, expect, test } from 'vitest'
import type { Caller } from '../../core/caller.ts'
import { ApiError } from '../../core/errors.ts'
import { admit, type CompatEdge } from './request-body.ts'

const caller = { organizationId: 'org_one' } as Caller

/** Admits a request. Returns the callers that a body was admitted for. */
async function admitted(method: string, found: Caller | ApiError): Promise<(Caller | null)[]> {
  const callers: (Caller | null)[] = []
  const authenticate = async () => {
    if (found instanceof ApiError) throw found
    return found
  }
  const edge = { admitBody: (request: { caller: Caller | null }) => void callers.push(request.caller), apiCalls: { authenticate } }
  await admit({ method, raw: {}, caller: null } as never, {} as never, edge as unknown as CompatEdge).catch((error: unknown) => {
    if (error !== found) throw error
  })
  return callers
}

describe('a body', () => {
  test('counts for the caller of the key', async () => {
    expect(await admitted('POST', caller)).toEqual([caller])
  })

  test('is not admitted without a key', async () => {
    expect(await admitted('POST', new ApiError('unauthorized', 'No key.'))).toEqual([])
  })

  test('is not read where a method has none', async () => {
    expect(await admitted('GET', caller)).toEqual([])
  })
})
