// Tokens of event sockets: their signature and their time.
import { newId } from '@callsign/contract/ids'
import { expect, test } from 'vitest'
import { readSocketToken, signSocketToken } from './socket-token.ts'

const [secret, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const keyId = newId('key', 1)
const token = signSocketToken({ keyId, expires: 1000 }, secret)

test('a token is valid until its second', () => {
  expect(readSocketToken(token, secret, 999_999)).toBe(keyId)
  expect(readSocketToken(token, secret, 1_000_000)).toBeNull()
})

test('an altered token, one of another secret, and other text are refused', () => {
  for (const text of [
    token.replace('.1000.', '.9000.'),
    token.replace(keyId, newId('key', 2)),
    `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
    `${token}=`,
    token.replace('evs_', ''),
    signSocketToken({ keyId, expires: 1000 }, other),
    signSocketToken({ keyId: 'cses_01h455vb4pex5vsknk084sn02q', expires: 1000 }, secret),
    '',
  ])
    expect(readSocketToken(text, secret, 0)).toBeNull()
})
