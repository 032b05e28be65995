// Sending by BlueBubbles where AppleScript cannot address a chat, as on macOS 26, whose chats are named `any;-;…`.
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { createBlueBubbles } from '../src/edges/suppliers/bluebubbles.ts'
import type { Piece } from '../src/features/imessage/provider.ts'
import { blueBubblesPassword, startBlueBubblesServer } from './harness/bluebubbles-server.ts'
import { png } from './harness/imessage-world.ts'

const server = await startBlueBubblesServer()
const phone = '+14155550123'
const provider = createBlueBubbles({
  url: server.url,
  password: blueBubblesPassword,
  line: '+14155550100',
  method: 'apple-script',
  settleMs: { text: 60_000, file: 60_000 },
  userAgent: 'test',
})
beforeEach(() => server.scriptErrors.clear())
afterAll(async () => {
  await provider.close()
  await server.stop()
})

let keys = 0
const piece = (more: Partial<Piece> = {}): Piece =>
  ({ key: `piece-${keys++}`, chatRef: `any;-;${phone}`, recipient: phone, text: 'Hello', media: null, ...more }) as Piece

const picture = { id: 'one', filename: 'photo.png', contentType: 'image/png', bytes: png }

describe.each<[string, Partial<Piece>]>([
  ['a text', {}],
  ['a file', { text: null, media: picture }],
])('%s', (_name, more) => {
  test.each([-1700, -1728])('goes to the older name of the chat after error %i, once', async (error) => {
    server.scriptErrors.set('any;-;', error)
    const before = server.sentTo(phone).length
    expect(await provider.send(piece(more))).toMatchObject({ kind: 'accepted' })
    expect(server.sentTo(phone).length).toBe(before + 1)
  })

  test('fails with the reason when no name of the chat works', async () => {
    server.scriptErrors.set('any;-;', -1700).set('iMessage;-;', -1728)
    const before = server.takenKeys().length
    expect(await provider.send(piece(more))).toMatchObject({
      kind: 'refused',
      code: 'chat_unaddressable',
      detail: expect.stringContaining('Messages got an error'),
    })
    expect(server.takenKeys().length).toBe(before)
  })

  test('goes to the chat by its own name where that works', async () => {
    server.scriptErrors.set('iMessage;-;', -1700)
    expect(await provider.send(piece(more))).toMatchObject({ kind: 'accepted' })
  })
})

test('a missing permission to control Messages fails with the reason', async () => {
  server.scriptErrors.set('iMessage;-;', -1743)
  expect(await provider.send(piece({ chatRef: `iMessage;-;${phone}` }))).toMatchObject({ kind: 'refused', code: 'chat_unaddressable' })
})

test('other failures of the Mac leave the outcome unknown, because it may have sent the message', async () => {
  for (const error of [-1712, -10_000, -17_000]) {
    server.scriptErrors.set('any;-;', error)
    const before = server.takenKeys().length
    expect(await provider.send(piece())).toMatchObject({ kind: 'unknown' })
    expect(server.takenKeys().length).toBe(before)
  }
})

test('a refused message is not sent to the other name of the chat', async () => {
  server.faults.push('refused')
  const before = server.takenKeys().length
  expect(await provider.send(piece())).toMatchObject({ kind: 'refused', code: 'imessage_22' })
  expect(server.takenKeys().length).toBe(before + 1)
})
