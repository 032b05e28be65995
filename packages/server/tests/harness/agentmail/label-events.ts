// Checks of the history of labels of an inbox.
import { expect } from 'vitest'
import type { Check } from './context.ts'

export const labelEventChecks: Record<string, Check> = {
  async 'inboxes.events.list'(context) {
    const { client, harness } = context
    const { handle, address } = await context.createInbox()
    const message = await context.receive(handle, 'Labelled')
    await client.inboxes.messages.update(address, message.id, { addLabels: ['Invoices', 'starred'] })
    await client.inboxes.messages.update(address, message.id, { addLabels: ['read'], removeLabels: ['unread', 'invoices'] })
    await client.inboxes.messages.update(address, message.id, { addLabels: ['read'] })
    const { events, count } = await client.inboxes.events.list(address, { ascending: true })
    const shown = (list: typeof events) => list.map(({ eventType, label }) => `${eventType} ${label}`)
    expect(shown(events)).toEqual([
      'label.added invoices',
      'label.added starred',
      'label.added read',
      'label.removed invoices',
      'label.removed unread',
    ])
    const { data } = await harness.expectApi(200, 'GET', `/events?agent=${handle}&types=email.labels_changed`)
    expect(count).toBe(data.reduce((sum: number, { data: { added, removed } }: (typeof data)[0]) => sum + added.length + removed.length, 0))
    expect(events[0]).toMatchObject({
      organizationId: (await harness.expectApi(200, 'GET', '/me')).organization_id,
      podId: 'default',
      inboxId: address,
      messageId: message.id,
      eventAt: new Date(data[0].timestamp),
      createdAt: expect.any(Date),
    })
    const ids = events.map(({ eventId }) => eventId)
    expect(ids).toEqual([...new Set(ids)].toSorted())
    const paged: typeof events = []
    for (let pageToken: string | undefined; ; ) {
      const page = await client.inboxes.events.list(address, { limit: 3, ...(pageToken !== undefined && { pageToken }) })
      expect(page.count).toBeLessThanOrEqual(3)
      paged.push(...page.events)
      pageToken = page.nextPageToken
      if (pageToken === undefined) break
    }
    expect(paged).toEqual(events.toReversed())
    const other = await context.createInbox()
    expect((await client.inboxes.events.list(other.address)).events).toEqual([])
    await expect(client.inboxes.events.list(address, { pageToken: 'x' })).rejects.toMatchObject({ statusCode: 400 })
    await expect(client.inboxes.events.list('nobody@agents.localhost')).rejects.toMatchObject({ statusCode: 404 })
  },
}
