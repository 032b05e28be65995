// Flags mark indicators that a message tries to deceive its reader or a model.
import Type from 'typebox'

const flagTypes = [
  'hidden_text',
  'model_instructions',
  'display_name_spoofing',
  'reply_to_mismatch',
  'link_mismatch',
  'lookalike_domain',
  'several_senders',
  'failed_authentication',
  'unverified_sender',
] as const
export type FlagType = (typeof flagTypes)[number]
export const FlagType = Type.Unsafe<FlagType>({ type: 'string', enum: [...flagTypes] })

/** An indicator that a message tries to deceive its reader or a model. It is not a verdict, and no message is dropped because of it. */
export const Flag = Type.Object(
  {
    type: FlagType,
    reason: Type.String({ description: 'The finding, as a sentence for the reader.' }),
    evidence: Type.String({
      description: 'The words, address or link with the indicator, cut to 300 characters. Untrusted, because the sender wrote it.',
    }),
  },
  { $id: 'Flag' },
)
