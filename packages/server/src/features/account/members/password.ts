// Passwords with Argon2id (RFC 9106). A bounded number is computed at once, because each takes 19 MiB.
import { randomBytes } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { ApiError, invalid } from '../../../core/errors.ts'

/** The library's algorithm is Argon2id. Memory is in KiB. These are the least parameters of OWASP's password storage cheat sheet. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

const passwordLengthMin = 12

const atOnceMax = 4
const waitingMax = 64
let running = 0
const waiting: (() => void)[] = []

/** Runs `work` when a slot is free. Throws 503 when too many wait. */
async function inSlot<T>(work: () => Promise<T>): Promise<T> {
  if (running >= atOnceMax) {
    if (waiting.length >= waitingMax)
      throw new ApiError('unavailable', 'Too many people sign in at once. Try again in a few seconds.', { headers: { 'Retry-After': '2' } })
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else running++
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
}

/** The same characters in every form of Unicode that a keyboard may send. */
const normal = (password: string): string => password.normalize('NFKC')

/** The PHC string of a new password. */
export const hashPassword = (password: string): Promise<string> => inSlot(() => hash(normal(password), parameters))

let unusable: Promise<string> | null = null

/** True when the password matches. Without a hash it compares with one that nothing matches, so that an unknown account takes as long. */
export async function isPassword(password: string, passwordHash: string | null): Promise<boolean> {
  unusable ??= hash(randomBytes(32), parameters)
  const against = passwordHash ?? (await unusable)
  return (await inSlot(() => verify(against, normal(password)))) && passwordHash !== null
}

/** Throws 400 for a password that is too short or repeats the e-mail address. */
export function checkNewPassword(password: string, email: string): void {
  if ([...password].length < passwordLengthMin) throw invalid('/password', `password must have at least ${passwordLengthMin} characters`)
  if (normal(password).toLowerCase().includes(email)) throw invalid('/password', 'password must not hold the e-mail address')
  if (new Set(password).size < 5) throw invalid('/password', 'password must have at least 5 different characters')
}
