// Mail of an everyday size, for the figures to read and to send.
import { setTimeout as sleep } from 'node:timers/promises'
import { ask, type CallsignServer } from './callsign-server.ts'

/** About 1.5 KB of text, in the form of a short business mail with a few quoted lines. */
export function messageText(seed: number): string {
  const lines = Array.from(
    { length: 20 },
    (_, i) => `Line ${i + 1} of letter ${seed}: the order ${seed * 31 + i} was shipped on day ${(i % 28) + 1} and will arrive.`,
  )
  return `Hello,\n\n${lines.join('\n')}\n\nKind regards,\nThe sending agent`
}

export const sender = 'bench_sender'
export const receiver = 'bench_receiver'

/** Creates two agents and delivers `count` messages from one to the other, so there are as many outbound as inbound messages. */
export async function fillMailboxes(server: CallsignServer, key: string, count: number): Promise<void> {
  for (const agent_handle of [sender, receiver]) await ask(server, key, 'POST', '/api/v1/identities', { agent_handle })
  for (let i = 0; i < count; i++) {
    const body = { agent: sender, to: [`${receiver}@agents.localhost`], subject: `Letter ${i}`, text: messageText(i) }
    await ask(server, key, 'POST', '/api/v1/mail/send', body)
  }
  await waitFor(
    async () => (await ask<{ total: number }>(server, key, 'GET', `/api/v1/mail/messages?agent=${receiver}&limit=1`)).total === count,
  )
}

/** Waits until the newest message of the sender has been worked on, and with it all before it. */
export async function waitForDelivery(server: CallsignServer, key: string): Promise<void> {
  await waitFor(async () => {
    const path = `/api/v1/mail/messages?agent=${sender}&limit=1`
    const { messages } = await ask<{ messages: { status: string }[] }>(server, key, 'GET', path)
    return messages[0]?.status !== 'queued'
  })
}

async function waitFor(isDone: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 60_000
  while (!(await isDone())) {
    if (performance.now() > deadline) throw new Error('The mail was not delivered within a minute.')
    await sleep(50)
  }
}
