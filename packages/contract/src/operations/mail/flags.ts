// Flags mark received mail that tries to deceive its reader or a model, and sent mail with secrets.
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
  'private_key',
  'api_key',
  'card_number',
  'callsign_key',
  'custom_pattern',
  'not_scanned',
] as const
export type FlagType = (typeof flagTypes)[number]
export const FlagType = Type.Unsafe<FlagType>({ type: 'string', enum: [...flagTypes] })

/** An indicator of deception in a received message, or of a secret in a sent one. It is not a verdict. No received message is dropped because of it. */
export const Flag = Type.Object(
  {
    type: FlagType,
    reason: Type.String({ description: 'The finding, as a sentence for the reader.' }),
    evidence: Type.String({
      description:
        'The words, address or link with the indicator, cut to 300 characters. Untrusted, because the sender wrote it. A secret is masked.',
    }),
  },
  { $id: 'Flag' },
)
