// Fixtures of the checks of AgentMail's SDK, and the list of its methods.
import { AgentMailClient } from 'agentmail'
import type { Harness, Json } from '../start.ts'

export type AgentMail = AgentMailClient

/** One method of the SDK: calls it, and checks its effect through our own API. */
export type Check = (context: Context) => Promise<void>

export type Context = {
  harness: Harness
  client: AgentMail
  /** A new agent with its address. Handles are unique. */
  createInbox(): Promise<{ handle: string; address: string }>
  /** A message from outside that has arrived at the agent. */
  receive(handle: string, subject: string, more?: Record<string, unknown>): Promise<Json>
}

export function createContext(harness: Harness): Context {
  let number = 0
  return {
    harness,
    client: clientOf(harness, harness.organizationKey),
    async createInbox() {
      const handle = `box_${++number}`
      const { mailbox_address } = await harness.createAgent(handle, { display_name: `Box ${number}` })
      return { handle, address: mailbox_address }
    },
    async receive(handle, subject, more = {}) {
      const mail = { from: '"Eve" <eve@example.org>', to: `${handle}@agents.localhost`, subject, text: `About ${subject}`, ...more }
      await harness.deliver(mail)
      return harness.waitForMail(handle, subject)
    },
  }
}

/** The SDK with this key. Retries would hide errors. */
export const clientOf = (harness: Harness, apiKey: string): AgentMail =>
  new AgentMailClient({ apiKey, baseUrl: `${harness.baseUrl}/compat/agentmail`, maxRetries: 0 })

export type Method = (...values: unknown[]) => Promise<unknown>

/** Every method of the SDK by its name, such as `inboxes.messages.list`. */
export function methodsOf(resource: object, prefix = ''): [string, Method][] {
  const found = new Map<string, [string, Method][]>()
  for (let shape = Object.getPrototypeOf(resource); shape !== Object.prototype; shape = Object.getPrototypeOf(shape))
    for (const [name, { get, value }] of Object.entries(Object.getOwnPropertyDescriptors(shape))) {
      if (name === 'constructor' || name.startsWith('_') || found.has(name)) continue
      if (typeof value === 'function') found.set(name, [[prefix + name, value.bind(resource) as Method]])
      else if (get) found.set(name, methodsOf((resource as Record<string, object>)[name] as object, `${prefix}${name}.`))
    }
  return [...found.values()].flat()
}
