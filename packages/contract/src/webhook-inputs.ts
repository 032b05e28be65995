// The agents, custom headers and format of a webhook, as requests give them.
import Type from 'typebox'

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
