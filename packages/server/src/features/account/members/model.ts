// Members as the console shows them, and the form of their e-mail addresses.
import { invalid } from '../../../core/errors.ts'
import type { MemberRole } from '../roles/model.ts'

export type MemberRow = {
  id: string
  organization_id: string
  email: string | null
  name: string
  role: MemberRole
  has_password: boolean
  has_oidc: boolean
  passkeys: number
  last_sign_in_at: Date | null
  created_at: Date
}

export type MemberView = {
  id: string
  email: string | null
  name: string
  role: MemberRole
  has_password: boolean
  has_oidc: boolean
  passkeys: number
  last_sign_in_at: string | null
  created_at: string
}

export const toMember = ({ organization_id: _, ...row }: MemberRow): MemberView => ({
  ...row,
  last_sign_in_at: row.last_sign_in_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
})

/** The address in the form that is stored and compared. Throws 400. */
export function readEmail(text: string): string {
  const email = text.trim().toLowerCase()
  if (email.length > 254 || !/^[^\s@<>"(),:;]{1,64}@[^\s@<>"(),:;]{1,253}$/.test(email))
    throw invalid('/email', 'email must be an e-mail address')
  return email
}
