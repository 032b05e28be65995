// One-time codes and confirmation links found in the text of a message.
import Type, { type Static } from 'typebox'
import { nullableString } from '../schema.ts'

export const codeKinds = ['one_time_code', 'confirmation_link'] as const
export const CodeKind = Type.Unsafe<(typeof codeKinds)[number]>({ type: 'string', enum: [...codeKinds] })

const purposes = ['sign_in', 'verify', 'password_reset', 'payment'] as const
export type CodePurpose = (typeof purposes)[number]

export const Code = Type.Object(
  {
    kind: CodeKind,
    value: Type.String({ description: 'The code without spaces and dashes between its digits, or the URL of the link.' }),
    purpose: Type.Unsafe<CodePurpose | null>({
      type: ['string', 'null'],
      enum: [...purposes, null],
      description: 'The purpose of the code or link, if the message states one.',
    }),
    near: Type.String({ description: 'The text around the code or link.' }),
    domain: nullableString({ description: 'The site that the message binds the code to, or the host of the link.' }),
  },
  { $id: 'Code' },
)

export type Code = Static<typeof Code>
