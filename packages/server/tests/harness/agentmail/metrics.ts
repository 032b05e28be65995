// Checks of metrics, of the account and of an inbox.
import { expect } from 'vitest'
import type { Check } from './context.ts'
import { inAccountAndPod, type Scoped, within } from './scopes.ts'

// biome-ignore lint/suspicious/noExplicitAny: the SDK types each scope on its own
type Api = any

const checksOf = (metricsOf: (api: Api, address: string) => Api): Scoped => ({
  async queryEvents(context, api) {
    const { handle, address } = await context.createInbox()
    const metrics = metricsOf(api, address)
    const start = new Date(Date.now() - 86_400_000)
    const total = async (): Promise<Record<string, number>> => {
      const series = await metrics.queryEvents({ eventTypes: ['message.received', 'message.delivered'], start, period: 86_400 })
      return Object.fromEntries(
        Object.entries(series).map(([type, buckets]) => [
          type,
          (buckets as { count: number }[]).reduce((sum, { count }) => sum + count, 0),
        ]),
      )
    }
    const before = await total()
    await context.receive(handle, 'Counted one')
    await context.receive(handle, 'Counted two')
    const after = await total()
    expect((after['message.received'] ?? 0) - (before['message.received'] ?? 0)).toBe(2)
    const { data } = await context.harness.expectApi(200, 'GET', `/usage?by=agent&agent_handle=${handle}`)
    expect(data.reduce((sum: number, day: { messages: { received: number } }) => sum + day.messages.received, 0)).toBe(2)
    const sent = async () =>
      Object.values(await metrics.queryEvents({ eventTypes: ['message.sent'], start }))
        .flat()
        .reduce((sum: number, bucket) => sum + (bucket as { count: number }).count, 0)
    const sentBefore = await sent()
    await context.harness.send(handle, 'ada@example.com')
    expect(await sent()).toBe(sentBefore + 1)
    await expect(metrics.queryEvents({ limit: 0 })).rejects.toMatchObject({ statusCode: 400 })
    await expect(metrics.queryEvents({ period: 60 })).rejects.toMatchObject({ statusCode: 501 })
    await expect(metrics.queryEvents({ start: new Date(0) })).rejects.toMatchObject({ statusCode: 400 })
  },

  async queryUsage(context, api) {
    const { handle, address } = await context.createInbox()
    const metrics = metricsOf(api, address)
    const { expectApi } = context.harness
    const day = new Date(Date.now() - 86_400_000)
    const valuesOf = async (query: object): Promise<Record<string, number[]>> => {
      const series = await metrics.queryUsage({ start: day, ...query })
      return Object.fromEntries(
        Object.entries(series).map(([type, points]) => [type, (points as { value: number }[]).map(({ value }) => value)]),
      )
    }
    await context.receive(handle, 'Stored')
    const before = await valuesOf({})
    await context.receive(handle, 'Stored too')
    await context.createInbox()
    const after = await valuesOf({})
    expect(after.message_count?.at(-1)).toBe((before.message_count?.at(-1) as number) + 1)
    expect(after.message_count).toHaveLength(2)
    expect(after.storage_bytes?.at(-1)).toBeGreaterThan(before.storage_bytes?.at(-1) as number)
    if (after.inbox_count === undefined) {
      const { data } = await expectApi(200, 'GET', `/usage/storage?by=agent&agent_handle=${handle}`)
      expect(after).toMatchObject({ storage_bytes: [data[0].used_bytes], message_count: [0, 2] })
    } else {
      const { data: domains } = await expectApi(200, 'GET', '/domains')
      expect(after).toMatchObject({ inbox_count: [0, (before.inbox_count?.at(-1) as number) + 1], domain_count: [0, domains.length] })
    }
    const newest = await metrics.queryUsage({ usageTypes: ['message_count'], start: day, descending: true, limit: 1 })
    expect(newest).toEqual({ message_count: [{ timestamp: expect.any(Date), value: after.message_count?.at(-1) }] })
    await expect(metrics.queryUsage({ usageTypes: ['thread_count'] })).rejects.toMatchObject({ statusCode: 501 })
  },
})

export const metricChecks: Record<string, Check> = {
  ...inAccountAndPod(
    'metrics',
    checksOf((api) => api.metrics),
  ),
  ...within('inboxes.metrics.', checksOf, (api) => api.inboxes.metrics),
}
