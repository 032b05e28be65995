// Input and result of a sign-in.
import type { Client, Session } from '../sessions/model.ts'

/** The browser, and the session that it had before. That one ends, so that nothing fixed before the sign-in survives it. */
export type From = { client: Client; previous: Session | null }

export type SignedIn = { cookie: string; session: Session }
