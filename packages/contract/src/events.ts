// Every event type: one row for every change that concerns the outside (decisions §8).

/** Types that the parts built so far emit. */
export const eventTypes = ['email.received', 'email.sent', 'email.delivered', 'email.bounced', 'email.failed'] as const

export type EventType = (typeof eventTypes)[number]
