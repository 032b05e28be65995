// A webhook of the first organization, and the check that each of its events arrived.
import { type ApiClient, createApiClient } from '../crash/api-client.ts'
import type { Ledger } from '../crash/ledger.ts'
import type { Random } from '../crash/random.ts'
import { startPostReceiver } from '../crash-webhooks/receiver.ts'

const types = ['email.received', 'email.sent', 'email.delivered']
const drainMsMax = 90_000

export type WebhookCounts = { events: number; posts: number; takenAgain: number }

type Page = { data: { id: string; type: string }[]; next_cursor: string | null }

/** Creates the webhook. `verify` waits for its deliveries and reports events that never arrived. */
export async function startWebhook(client: ApiClient, apiKey: string, ledger: Ledger, random: Random) {
  const receiver = await startPostReceiver(random, ledger.report)
  const answer = await client.call({ method: 'POST', path: '/api/v1/webhooks', apiKey, body: { url: receiver.url, events: types } })
  if (answer.status !== 201) throw new Error(`the webhook was answered ${answer.status}: ${answer.body}`)
  const { id, secret } = JSON.parse(answer.body.toString()) as { id: string; secret: string }
  receiver.setSecret(secret)

  async function listEvents(reader: ApiClient): Promise<Page['data']> {
    const all: Page['data'] = []
    for (let cursor = ''; ; ) {
      const page = await reader.get<Page>(`/api/v1/events?limit=100&types=${types.join()}${cursor && `&cursor=${cursor}`}`, apiKey)
      all.push(...page.data)
      if (page.data.length === 0) return all
      cursor = page.data.at(-1)?.id as string
    }
  }
  const list = async (reader: ApiClient, status: string) =>
    (await reader.get<Page>(`/api/v1/webhooks/${id}/deliveries?status=${status}&limit=100`, apiKey)).data

  return {
    async verify(port: number): Promise<WebhookCounts> {
      const reader = createApiClient(port)
      const startedMs = performance.now()
      while ((await list(reader, 'pending')).length > 0 && performance.now() - startedMs < drainMsMax) {
        await new Promise((resolve) => setTimeout(resolve, 200))
      }
      for (const status of ['pending', 'failed']) {
        const { length } = await list(reader, status)
        if (length > 0) ledger.report(`${length} webhook deliveries are ${status}`)
      }
      const events = await listEvents(reader)
      for (const event of events) {
        const one = receiver.posted.get(event.id)
        if (!one || one.taken === 0) ledger.report(`event ${event.id} (${event.type}) was not delivered to the webhook`)
        else if (one.hashes.size > 1) ledger.report(`event ${event.id} was delivered with ${one.hashes.size} different bodies`)
      }
      const known = new Set(events.map((event) => event.id))
      for (const eventId of receiver.posted.keys())
        if (!known.has(eventId)) ledger.report(`webhook-id ${eventId} is not an event of the list`)
      reader.close()
      const posted = [...receiver.posted.values()]
      return {
        events: events.length,
        posts: posted.reduce((sum, one) => sum + one.posts, 0),
        takenAgain: posted.filter((one) => one.taken > 1).length,
      }
    },
    stop: receiver.stop,
  }
}
