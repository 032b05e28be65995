// The address, events, agents, custom headers and format of a webhook, as requests give them.
import Type from 'typebox'
import { nullableString } from '../schema.ts'
import { eventTypes } from './event-types.ts'

export const Url = Type.String({
  minLength: 8,
  maxLength: 2048,
  description:
    'A public address with http:// or https://. An address of the own machine or network needs CALLSIGN_OUTBOUND_ALLOW_CIDRS on the server. `callsign listen --forward-to` delivers to one without it.',
})
export const EventNames = Type.Array(Type.Unsafe<string>({ type: 'string', enum: ['*', ...eventTypes] }), {
  minItems: 1,
  maxItems: eventTypes.length + 1,
  uniqueItems: true,
  description: 'Event types, or * for all.',
})
export const Description = nullableString({ maxLength: 500, description: 'A note for people.' })
export const SettableStatus = Type.Unsafe<'active' | 'paused'>({
  type: 'string',
  enum: ['active', 'paused'],
  description: 'A paused webhook gets no events. Replay those of that time afterwards.',
})
export const AgentFilter = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  minLength: 1,
  description: 'Only events of this agent, by its handle. Without it, those of every agent.',
})

export const AgentFilters = Type.Unsafe<string[] | null>({
  type: ['array', 'null'],
  items: { type: 'string', minLength: 1 },
  minItems: 1,
  maxItems: 50,
  description: 'Only events of these agents. Excludes agent_handle.',
})
export const CustomHeaders = Type.Unsafe<Record<string, string> | null>({
  type: ['object', 'null'],
  additionalProperties: { type: 'string', maxLength: 4096 },
  maxProperties: 20,
  description: 'Headers to send with every delivery, such as Authorization. Stored encrypted and never shown.',
})
export const ChangedHeaders = Type.Unsafe<Record<string, string> | null>({
  ...CustomHeaders,
  description: 'Replaces the custom headers. A url of another origin removes them unless they are given again.',
})

/** The shapes of the bodies that a webhook receives. */
export const webhookFormats = ['callsign', 'resend', 'agentmail'] as const
export type WebhookFormat = (typeof webhookFormats)[number]
export const Format = Type.Unsafe<WebhookFormat>({
  type: 'string',
  enum: [...webhookFormats],
  description:
    'The shape of the bodies: callsign, or that of another service, resend or agentmail, for a receiver that was written for its webhooks.',
})
