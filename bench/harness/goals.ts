// The goals of the figures, by the names under which the benchmarks report them.

/** `atLeast` is the least ratio to the peer, and `atMost` the largest allowed value. */
export type Goal = { of: string; against: string } & ({ atLeast: number } | { atMost: number })

const reads = { against: 'a bare Fastify route that answers the same bytes' }
const stored = { against: 'a Postfix that holds its messages' }

/** Figures without a unit are ratios of rates: 1 is as fast as the peer. */
export const goals = {
  'list-1': { of: 'list of 50 messages with texts, 1 connection', ...reads, atLeast: 0.35 },
  'list-16': { of: 'list of 50 messages with texts, 16 connections', ...reads, atLeast: 0.35 },
  'list-64': { of: 'list of 50 messages with texts, 64 connections', ...reads, atLeast: 0.35 },
  'summary-1': { of: 'list of 50 messages, view=summary, 1 connection', ...reads, atLeast: 0.4 },
  'summary-16': { of: 'list of 50 messages, view=summary, 16 connections', ...reads, atLeast: 0.4 },
  'summary-64': { of: 'list of 50 messages, view=summary, 64 connections', ...reads, atLeast: 0.4 },
  'get-1': { of: 'GET one message, 1 connection', ...reads, atLeast: 0.35 },
  'get-16': { of: 'GET one message, 16 connections', ...reads, atLeast: 0.5 },
  'get-64': { of: 'GET one message, 64 connections', ...reads, atLeast: 0.6 },
  'send-64': { of: 'send accepted, 64 connections', ...reads, atLeast: 0.2 },
  'ingest-1': { of: 'mail in, 1 KB, kept connections', ...stored, atLeast: 0.9 },
  'ingest-10': { of: 'mail in, 10 KB, kept connections', ...stored, atLeast: 0.8 },
  'ingest-100': { of: 'mail in, 100 KB, kept connections', ...stored, atLeast: 0.5 },
  'ingest-latency': { of: 'mail in, final dot to 250, p50 in ms', against: 'a limit', atMost: 1.5 },
  'stack-1': { of: 'mail in, 1 KB, the same work', against: 'Postfix + rspamd + Dovecot', atLeast: 3.5 },
  'stack-10': { of: 'mail in, 10 KB, the same work', against: 'Postfix + rspamd + Dovecot', atLeast: 3.5 },
  'stack-100': { of: 'mail in, 100 KB, the same work', against: 'Postfix + rspamd + Dovecot', atLeast: 3.5 },
  deliver: { of: 'mail out, 10 KB, signed', against: 'a Postfix that relays ready bytes', atLeast: 1.5 },
  webhooks: { of: 'webhook deliveries', against: 'a loop of POSTs', atLeast: 0.9 },
  growth: { of: 'the request that grows most, 10 thousand to 1 million messages', against: 'a limit', atMost: 1.5 },
  'list-growth': { of: 'the list that grows most, 10 thousand to 1 million rows', against: 'a limit', atMost: 1.5 },
  'tunnel-64': { of: 'requests through a tunnel, 64 connections', against: 'the origin without a tunnel', atLeast: 0.45 },
  memory: { of: 'memory under mixed load, last minute, in MB', against: 'a limit', atMost: 250 },
  'resend-1': { of: 'latency of the API of Resend, 1 connection', against: 'our own API', atMost: 1.1 },
  'resend-16': { of: 'latency of the API of Resend, 16 connections', against: 'our own API', atMost: 1.1 },
} satisfies Record<string, Goal>

export type FigureName = keyof typeof goals

/** The benchmarks that report these figures, in the order of a whole run. Those that fill a million rows are last. */
export const benchmarksWithGoals = [
  'list-mail',
  'get-message',
  'send-mail',
  'ingest',
  'ingest-stack',
  'deliver-mail',
  'webhook-delivery',
  'tunnel-requests',
  'resend-send',
  'memory',
  'growth',
  'list-growth',
]
export const isFigure = (name: string): name is FigureName => Object.hasOwn(goals, name)

/** Reports a figure to `bench/main.ts`, which compares it with its goal and its last value. A name without a goal is left out. */
export function report(name: string, value: number): void {
  if (isFigure(name)) process.send?.({ name, value: Number(value.toPrecision(3)) })
}

/** Reports a server's ratios to its peer as `figure-CONNECTIONS`, each as `toValue` makes it. */
export function reportRatios(figure: string, ratios: { connections: number; ratio: number }[], toValue = (ratio: number) => ratio): void {
  for (const { connections, ratio } of ratios) report(`${figure}-${connections}`, toValue(ratio))
}

/** True when the value is at the goal or better. */
export const isMet = (goal: Goal, value: number): boolean => ('atLeast' in goal ? value >= goal.atLeast : value <= goal.atMost)

/** The share by which a value is worse than an earlier one. Negative when it is better. */
export const lossSince = (goal: Goal, before: number, now: number): number =>
  'atLeast' in goal ? (before - now) / before : (now - before) / before
