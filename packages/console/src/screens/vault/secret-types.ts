// The forms of the secret types, with the label of each member and whether its value is hidden.
import type { SecretType } from '@callsign/sdk'
import { mainMember, payloadMembers } from '@callsign/sdk/vault'

export const typeLabels: Record<SecretType, string> = {
  login: 'Login',
  api_key: 'API key',
  key_pair: 'Key pair',
  ssh_key: 'SSH key',
  other: 'Other',
}

export const secretTypes = Object.keys(typeLabels) as SecretType[]

export const isKnownType = (type: string): type is SecretType => Object.hasOwn(typeLabels, type)

export type Member = { name: string; label: string; isHidden: boolean; isLong: boolean; isRequired: boolean }

const labels: Record<string, string> = {
  username: 'User name',
  url: 'Address',
  totp: 'One-time password secret',
  api_key: 'API key',
  access_key: 'Access key',
  secret_key: 'Secret key',
  private_key: 'Private key',
  public_key: 'Public key',
}

/** Members whose value is not secret by itself. */
const shown = ['username', 'url', 'endpoint', 'access_key', 'public_key', 'fingerprint', 'notes']
const long = ['private_key', 'public_key', 'data', 'notes']

const labelOf = (name: string): string => labels[name] ?? `${name.slice(0, 1).toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`

const memberOf = (name: string, isRequired: boolean): Member => ({
  name,
  label: labelOf(name),
  isHidden: !shown.includes(name),
  isLong: long.includes(name),
  isRequired,
})

/** The members of a type in the order of the form. */
export const membersOf = (type: SecretType): Member[] => [
  ...payloadMembers[type].required.map((name) => memberOf(name, true)),
  ...payloadMembers[type].optional.map((name) => memberOf(name, false)),
]

/** The members of a payload, with those that other clients have added, which stay hidden. */
export function membersIn(type: string, payload: Record<string, unknown>): Member[] {
  const known = isKnownType(type) ? membersOf(type) : []
  const names = new Set(known.map(({ name }) => name))
  const added = Object.keys(payload).filter((name) => !names.has(name))
  return [...known.filter(({ name }) => payload[name] !== undefined && payload[name] !== ''), ...added.map((name) => memberOf(name, false))]
}

/** True for members that the generator fills. */
export const isGenerated = (type: SecretType, name: string): boolean => name === mainMember[type] && (type === 'login' || type === 'other')
