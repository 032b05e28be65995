// Matches of the codes in a message with the kind that a wait asks for.
import type { Code } from '@callsign/contract/codes'
import { expect, test } from 'vitest'
import { hasWantedCode } from './wait.ts'

const otp = [{ kind: 'one_time_code' } as unknown as Code]
const link = [{ kind: 'confirmation_link' } as unknown as Code]

test.each([
  [[], {}, true],
  [otp, {}, true],
  [[], { has_code: true }, false],
  [otp, { has_code: true }, true],
  [[], { has_code: false }, true],
  [otp, { has_code: false }, false],
  [otp, { code_kind: 'one_time_code' as const }, true],
  [link, { code_kind: 'one_time_code' as const }, false],
  [[...link, ...otp], { code_kind: 'one_time_code' as const }, true],
  [[], { code_kind: 'one_time_code' as const, has_code: false }, false],
])('%j for %j: %s', (codes, wants, expected) => expect(hasWantedCode(codes, wants)).toBe(expected))
