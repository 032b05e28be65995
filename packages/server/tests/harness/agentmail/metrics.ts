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
    await expect(metrics.queryEvents({ period: 60 })).rejects.toMatchObject({ statusCode: 501 })
    await expect(metrics.queryEvents({ start: new Date(0) })).rejects.toMatchObject({ statusCode: 400 })
  },
})

export const metricChecks: Record<string, Check> = {
  ...inAccountAndPod(
    'metrics',
    checksOf((api) => api.metrics),
  ),
  ...within('inboxes.metrics.', checksOf, (api) => api.inboxes.metrics),
}
