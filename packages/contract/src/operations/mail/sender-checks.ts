// Results of the sender checks SPF, DKIM, DMARC and ARC, with their evidence.
import Type, { type TSchema } from 'typebox'
import { nullableString } from '../../schema.ts'

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const word = <Word extends string>(words: readonly Word[], description?: string) =>
  Type.Unsafe<Word>({ type: 'string', enum: [...words], ...(description ? { description } : {}) })
const DkimResult = word(['none', 'pass', 'fail', 'policy', 'neutral', 'temperror', 'permerror'])

/** Results of the sender checks at arrival, with their evidence. Every part is null on outbound messages. */
export const Authentication = Type.Object(
  {
    source: nullable(word(['smtp', 'hosted'], 'smtp for mail from outside, hosted for mail of an agent on this server.')),
    spf: nullable(
      Type.Object({
        result: word(['none', 'neutral', 'pass', 'fail', 'softfail', 'temperror', 'permerror']),
        domain: nullableString(),
        identity: word(['mailfrom', 'helo'], 'helo when the return path is empty.'),
        client_ip: Type.String(),
        record: nullableString(),
        reason: nullableString(),
      }),
    ),
    dkim: nullable(
      Type.Object({
        result: DkimResult,
        domain: nullableString({
          description: 'The signing domain. A signature that passes and is aligned takes precedence over the others.',
        }),
        signatures: Type.Array(
          Type.Object({
            result: DkimResult,
            domain: nullableString(),
            selector: nullableString(),
            algorithm: nullableString(),
            is_aligned: Type.Boolean({ description: 'The signing domain belongs to the domain in From.' }),
            unsigned_bytes: Type.Integer({ description: 'Bytes of the body after the signed part.' }),
            reason: nullableString(),
          }),
        ),
      }),
    ),
    dmarc: nullable(
      Type.Object({
        result: word(
          ['none', 'pass', 'fail', 'temperror', 'permerror'],
          'permerror means that From does not name exactly one usable author.',
        ),
        domain: nullableString({ description: 'The domain in From.' }),
        policy_domain: nullableString({ description: 'The domain of the DMARC record.' }),
        policy: nullable(word(['none', 'quarantine', 'reject'], 'The action that the domain requests if the result is fail.')),
        alignment: Type.Object({ spf: Type.Boolean(), dkim: Type.Boolean() }),
        record: nullableString(),
        reason: nullableString(),
      }),
    ),
    arc: nullable(
      Type.Object({
        result: word(['none', 'pass', 'fail']),
        chain_length: Type.Integer(),
        domain: nullableString({ description: 'The domain of the latest seal.' }),
        reason: nullableString(),
      }),
    ),
  },
  { $id: 'Authentication' },
)
