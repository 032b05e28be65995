// What every wait takes: how long, from where on, and whether what arrives has to hold a code. Each feature adds its own filters.
import Type, { type Static } from 'typebox'
import { CodeKind } from './codes.ts'
import { Timestamp } from './schema.ts'

/** The longest wait in seconds: common proxies close what is silent for a minute. */
export const waitSecondsMax = 60

export const waitFields = {
  timeout: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: waitSecondsMax,
      default: 30,
      description: 'How many seconds to wait; 0 looks and answers at once.',
    }),
  ),
  after: Type.Optional(
    Type.String({
      ...Timestamp,
      description: 'What came after this time, for what may have arrived before you ask. Without after and cursor: from now on.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({ minLength: 1, maxLength: 40, description: 'cursor of the answer before: goes on where it ended, and misses nothing.' }),
  ),
  has_code: Type.Optional(
    Type.Boolean({ description: 'true: only what holds a code or a confirmation link; false: only what holds none.' }),
  ),
  code_kind: Type.Optional(Type.Unsafe<Static<typeof CodeKind>>({ ...CodeKind, description: 'Only what holds a code of this kind.' })),
}

/** The cursor of every answer. */
export const WaitCursor = Type.String({ description: 'For the next wait: it begins behind what this one has looked at.' })
