// What a message asks its reader to type or to open: one-time codes and confirmation links, found in its text.
import Type, { type Static } from 'typebox'
import { nullableString } from './schema.ts'

export const codeKinds = ['one_time_code', 'confirmation_link'] as const
export const CodeKind = Type.Unsafe<(typeof codeKinds)[number]>({ type: 'string', enum: [...codeKinds] })

const purposes = ['sign_in', 'verify', 'password_reset', 'payment'] as const
export type CodePurpose = (typeof purposes)[number]

export const Code = Type.Object(
  {
    kind: CodeKind,
    value: Type.String({ description: 'What to type, without the spaces and dashes between its digits; or the address to open.' }),
    purpose: Type.Unsafe<CodePurpose | null>({
      type: ['string', 'null'],
      enum: [...purposes, null],
      description: 'What it is for, as far as the message says.',
    }),
    near: Type.String({ description: 'The words it stands among.' }),
    domain: nullableString({ description: 'The site that the code is bound to, when the message says so; the host of a link.' }),
  },
  { $id: 'Code' },
)

export type Code = Static<typeof Code>
