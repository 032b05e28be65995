// Common parameters of every wait, such as timeout, starting point and codes. Each feature adds its own filters.
import Type, { type Static } from 'typebox'
import { Timestamp } from '../schema.ts'
import { CodeKind } from './codes.ts'

/** The maximum wait in seconds, because common proxies close connections that are silent for a minute. */
export const waitSecondsMax = 60

export const waitFields = {
  timeout: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: waitSecondsMax,
      default: 30,
      description: 'Seconds to wait. 0 checks once and returns immediately.',
    }),
  ),
  after: Type.Optional(
    Type.String({
      ...Timestamp,
      description: 'Also return a match that arrived after this time. Without after and cursor, only new arrivals match.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 40,
      description: 'The cursor of the previous response. Continues where that wait ended, without gaps.',
    }),
  ),
  has_code: Type.Optional(
    Type.Boolean({
      description: 'true matches only messages with a code or a confirmation link. false matches only messages without one.',
    }),
  ),
  code_kind: Type.Optional(
    Type.Unsafe<Static<typeof CodeKind>>({ ...CodeKind, description: 'Match only messages with a code of this kind.' }),
  ),
}

/** The cursor of every answer. */
export const WaitCursor = Type.String({
  description: 'The cursor for the next wait. It starts after the last message that this wait checked.',
})
