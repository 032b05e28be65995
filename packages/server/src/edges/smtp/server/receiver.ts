// Interface between the SMTP server and the code that accepts mail. `wiring/smtp.ts` and `wiring/submission.ts` supply it.
import type { SmtpReply } from './reply.ts'

/** Facts of the TLS connection: protocol ('TLSv1.3') and IANA name of the cipher suite. */
export type TlsFacts = { version: string; cipher: string }

/** The client of a submission after AUTH: its address as user name, and its API key. */
export type Account = { username: string; key: string }

/** Checks credentials. Resolves with the account, or with the reply that refuses them. */
export type SignIn = (credentials: { username: string; password: string }, clientAddress: string) => Promise<Account | SmtpReply>

/** A sender and its session, as known at RCPT. */
export type SenderFacts = {
  /** Id of the transaction, for logs and the Received field. */
  id: string
  /** '' for the null sender. Quoted local parts are in their shortest form. The case is the client's. */
  from: string
  clientAddress: string
  /** The name given with EHLO or HELO: printable text. It is not verified, and may look like anything else. */
  clientName: string
  esmtp: boolean
  tls: TlsFacts | null
  smtputf8: boolean
  /** The SIZE parameter of MAIL. */
  declaredSize: number | null
  /** Null for mail from other servers. */
  account: Account | null
}

/** Everything known about a message before its bytes. Recipients are the accepted ones, each once, in the order given. */
export type Envelope = SenderFacts & {
  recipients: string[]
  bodyType: '7bit' | '8bitmime'
}

export type RecipientVerdict = { kind: 'accepted' } | { kind: 'refused'; reply: SmtpReply }

/** `id` is sent to the client as "queued as <id>". */
export type MessageVerdict = { kind: 'stored'; id: string } | { kind: 'refused'; reply: SmtpReply }

export interface SmtpReceiver {
  /** Called once per RCPT. `address` may be the bare word `postmaster` in any case (RFC 5321 §4.5.1). A rejection is answered 451. */
  checkRecipient(address: string, sender: SenderFacts): Promise<RecipientVerdict>
  /**
   * Resolves with `stored` after the commit for every recipient. Reports to return paths are committed first, and a retry recognizes them. `raw` has CRLF line ends and no dot stuffing.
   * `received` is the Received field of this server with its CRLF, not part of `raw`.
   * A rejection is answered 451, or 452 when a disk is full.
   */
  accept(envelope: Envelope, raw: Buffer, received: string): Promise<MessageVerdict>
}
