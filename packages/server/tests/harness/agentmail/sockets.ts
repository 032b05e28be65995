// Checks of the SDK's socket.
import { expect } from 'vitest'
import type { Json } from '../start.ts'
import { waitFor } from '../wait.ts'
import { type Check, clientOf } from './context.ts'

export const socketChecks: Record<string, Check> = {
  async 'websockets.connect'(context) {
    const { harness } = context
    const [one, two] = [await context.createInbox(), await context.createInbox()]
    const { id, key } = await harness.expectApi(201, 'POST', '/keys', { body: { name: 'Socket', type: 'organization' } })
    const socket = await clientOf(harness, key).websockets.connect({ reconnectAttempts: 0 })
    const messages: Json[] = []
    let closed: number | null = null
    socket.on('message', (message) => messages.push(message))
    socket.on('close', (event) => {
      closed = event.code
    })
    const received = (count: number) => waitFor(`${count} messages`, () => messages.length >= count && messages)
    socket.sendSubscribe({ type: 'subscribe', inboxIds: ['nobody@agents.localhost'] })
    expect((await received(1))[0]).toMatchObject({ type: 'error', message: expect.any(String) })
    socket.sendSubscribe({ type: 'subscribe', eventTypes: ['message.received', 'message.sent'], inboxIds: [one.address] })
    expect((await received(2))[1]).toMatchObject({ type: 'subscribed', inboxIds: [one.address] })
    await context.receive(two.handle, 'Not for the socket')
    const message = await context.receive(one.handle, 'For the socket')
    expect((await received(3))[2]).toMatchObject({
      type: 'event',
      eventType: 'message.received',
      message: { messageId: message.id, inboxId: one.address, subject: 'For the socket' },
      thread: { threadId: message.thread_id, messageCount: 1 },
    })
    const sent = await harness.send(one.handle, two.address, { subject: 'From the socket' })
    expect((await received(4))[3]).toMatchObject({ eventType: 'message.sent', send: { messageId: sent.id } })
    await harness.expectApi(200, 'DELETE', `/keys/${id}`)
    expect(await waitFor('the end of the socket', () => closed)).toBe(4401)
    socket.close()
    await expect(fetch(`${harness.baseUrl}/compat/agentmail/v0?api_key=${harness.organizationKey}`)).resolves.toMatchObject({ ok: false })
  },
}
