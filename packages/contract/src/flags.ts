// Flags: signs that a message wants to deceive its reader, or a model.
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

/** A sign that a message wants to deceive its reader, or a model. A sign is no verdict: nothing is dropped because of one. */
export const Flag = Type.Object(
  {
    type: FlagType,
    reason: Type.String({ description: 'What was seen, as a sentence for the reader.' }),
    evidence: Type.String({
      description: 'The words, address or link that it was seen in, cut to 300 characters. Written by the sender: untrusted.',
    }),
  },
  { $id: 'Flag' },
)
