// What the checks of a message's sender found: SPF, DKIM, DMARC and ARC, with their evidence.
import Type, { type TSchema } from 'typebox'
import { nullableString } from './schema.ts'

const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const word = <Word extends string>(words: readonly Word[], description?: string) =>
  Type.Unsafe<Word>({ type: 'string', enum: [...words], ...(description ? { description } : {}) })
const DkimResult = word(['none', 'pass', 'fail', 'policy', 'neutral', 'temperror', 'permerror'])

/** What the checks of the sender found when a message arrived, with their evidence. Every part is null on outbound messages. */
export const Authentication = Type.Object(
  {
    source: nullable(word(['smtp', 'hosted'], 'Whether it came over SMTP or from an agent on this server.')),
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
        domain: nullableString({ description: 'Of the signature that counts most: one that passes and is aligned, if there is one.' }),
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
        result: word(['none', 'pass', 'fail', 'temperror', 'permerror'], 'permerror: From does not name exactly one usable author.'),
        domain: nullableString({ description: 'The domain in From.' }),
        policy_domain: nullableString({ description: 'Whose record it is.' }),
        policy: nullable(word(['none', 'quarantine', 'reject'], 'What the domain asks for when the result is fail.')),
        alignment: Type.Object({ spf: Type.Boolean(), dkim: Type.Boolean() }),
        record: nullableString(),
        reason: nullableString(),
      }),
    ),
    arc: nullable(
      Type.Object({
        result: word(['none', 'pass', 'fail']),
        chain_length: Type.Integer(),
        domain: nullableString({ description: 'Who sealed last.' }),
        reason: nullableString(),
      }),
    ),
  },
  { $id: 'Authentication' },
)
