// Limits on attempts to sign in, counted per subject in windows of 15 minutes.
import { createHash } from 'node:crypto'

export const windowMs = 15 * 60_000

/** A counted subject and its limit per window. Its name is stored as a hash, because it may be a stranger's input. */
export type Subject = { hash: Buffer; max: number }

const subject = (name: string, max: number): Subject => ({ hash: createHash('sha256').update(name).digest(), max })

/** All attempts from one client address, whatever the account. */
export const byAddress = (address: string): Subject => subject(`address\n${address}`, 50)

/** Attempts of one client address on one account. */
export const byPair = (account: string, address: string): Subject => subject(`pair\n${account}\n${address}`, 10)

/** Attempts of all addresses on one account, for addresses that have no session of that account. */
export const byAccount = (account: string): Subject => subject(`account\n${account}`, 100)

/** Attempts of one member to prove the current password. */
export const byMember = (userId: string): Subject => subject(`member\n${userId}`, 10)

/** Sign-ins that were started, finished or not. */
export const byStart = (address: string): Subject => subject(`start\n${address}`, 200)

/** Registrations of OAuth clients from one client address. */
export const byRegistration = (address: string): Subject => subject(`registration\n${address}`, 20)

/** Codes and refresh tokens from one client address that were refused. */
export const byBadGrant = (address: string): Subject => subject(`bad grant\n${address}`, 200)
