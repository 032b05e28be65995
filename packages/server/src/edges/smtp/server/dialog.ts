// The conversation of one session without its socket. Decides which command is allowed when, and its reply (RFC 5321 §4.1.4).
import type { Log } from '../../../core/log.ts'
import { parseClientName, parseMail, parseRecipient, splitCommand } from './command.ts'
import { replyToFailure } from './error-reply.ts'
import type { Limits } from './limits.ts'
import { type Credentials, Login, type LoginStep } from './login.ts'
import type { Account, Envelope, RecipientVerdict, SenderFacts, SignIn, SmtpReceiver, TlsFacts } from './receiver.ts'
import { renderLines, renderReply, replies, type SmtpReply } from './reply.ts'

/**
 * `next` is the session's step after sending `text`: read commands or message data, start TLS, or close.
 * `no-data` reads commands after a refused DATA, unless more bytes have already arrived. Those could be a message, and must not be read as
 * commands. `isFault` counts against the client.
 */
export type Answer = { text: string; next: 'command' | 'data' | 'no-data' | 'tls' | 'close'; isFault: boolean }

export type DialogSettings = {
  hostname: string
  sizeBytesMax: number
  limits: Limits
  receiver: SmtpReceiver
  log: Log
  offersTls: boolean
  /** Set for submission, which is for clients that sign in over TLS (RFC 6409 §4.3). */
  signIn: SignIn | null
  /** Sees the code of every reply to a command or a message. */
  onReply: (sessionId: string, code: number) => void
  /** Free octets on the disks, as last measured. */
  freeBytes: () => number
}

type Transaction = Envelope & { isRecipientRefused: boolean }

/** Space for a message, its rows, indexes and log, as a multiple of its size. */
const roomFactor = 1.5

const say = (reply: SmtpReply, next: Answer['next'] = 'command'): Answer => ({ text: renderReply(reply), next, isFault: reply.code >= 500 })

export class Dialog {
  readonly #settings: DialogSettings
  readonly #sessionId: string
  readonly #clientAddress: string
  #clientName: string | null = null
  #isEsmtp = false
  #tls: TlsFacts | null = null
  /** The exchange that the next line belongs to. */
  #login: Login | null = null
  #account: Account | null = null
  #transaction: Transaction | null = null
  #transactions = 0
  #refusedRecipients = 0

  constructor(settings: DialogSettings, sessionId: string, clientAddress: string) {
    this.#settings = settings
    this.#sessionId = sessionId
    this.#clientAddress = clientAddress
  }

  /** The transaction whose data is read. It exists after an answer that leads to `data`. */
  get envelope(): Envelope {
    const { isRecipientRefused: _, ...envelope } = this.#transaction!
    return envelope
  }

  /** Ends the transaction, with any result. */
  endTransaction(): void {
    this.#transaction = null
  }

  /** After the handshake the client must repeat its greeting (RFC 3207 §4.2). */
  beginTls(tls: TlsFacts): void {
    this.#tls = tls
    this.#clientName = null
    this.#isEsmtp = false
    this.#transaction = null
  }

  /** Answers one command line without its CRLF. Never rejects. */
  answer(line: Buffer): Answer | Promise<Answer> {
    if (this.#login) return this.#takeStep(this.#login.next(line.toString('latin1')))
    const command = splitCommand(line)
    if (!command) return say(replies.commandNotText)
    const { verb, argument } = command
    switch (verb) {
      case 'EHLO':
      case 'HELO':
        return this.#hello(verb === 'EHLO', argument)
      case 'MAIL':
        return say(this.#mail(argument))
      case 'RCPT':
        return this.#recipient(argument)
      case 'DATA':
        return argument === '' ? this.#data() : say(replies.noParameters, 'no-data')
      case 'RSET':
        if (argument !== '') return say(replies.noParameters)
        this.#transaction = null
        return say(replies.ok)
      case 'NOOP':
        return say(replies.ok)
      case 'VRFY':
        return say(replies.cannotVerify)
      case 'HELP':
        return say(replies.help)
      case 'QUIT':
        return say(replies.bye, 'close')
      case 'STARTTLS':
        return this.#startTls(argument)
      case 'AUTH':
        return this.#authenticate(argument)
      case 'EXPN':
      case 'ETRN':
      case 'TURN':
      case 'BDAT':
      case 'SEND':
      case 'SAML':
      case 'SOML':
        return say(replies.notImplemented)
      default:
        return say(replies.unknownCommand)
    }
  }

  #hello(isEsmtp: boolean, argument: string): Answer {
    const name = parseClientName(argument)
    if (name === null) return say(replies.clientNameBad)
    this.#clientName = name
    this.#isEsmtp = isEsmtp
    this.#transaction = null
    const { hostname, sizeBytesMax, offersTls, signIn } = this.#settings
    if (!isEsmtp) return { text: `250 ${hostname}\r\n`, next: 'command', isFault: false }
    const lines = [hostname, `SIZE ${sizeBytesMax}`, 'PIPELINING', '8BITMIME', 'SMTPUTF8', 'ENHANCEDSTATUSCODES']
    if (offersTls && !this.#tls) lines.push('STARTTLS')
    if (signIn && this.#tls && !this.#account) lines.push('AUTH PLAIN LOGIN')
    return { text: renderLines(250, lines), next: 'command', isFault: false }
  }

  #startTls(argument: string): Answer {
    if (!this.#settings.offersTls) return say(replies.tlsNotOffered)
    if (argument !== '') return say(replies.noParameters)
    if (this.#tls) return say(replies.tlsActive)
    if (!this.#isEsmtp) return say(replies.helloFirst)
    return say(replies.readyForTls, 'tls')
  }

  #authenticate(argument: string): Answer | Promise<Answer> {
    if (!this.#settings.signIn) return say(replies.authNotOffered)
    if (!this.#isEsmtp) return say(replies.helloFirst)
    if (!this.#tls) return say(replies.tlsFirst)
    if (this.#account) return say(replies.loginDone)
    if (this.#transaction) return say(replies.nestedMail)
    const started = Login.start(argument)
    if ('refusal' in started) return say(started.refusal)
    this.#login = started.login
    return this.#takeStep(started.step)
  }

  #takeStep(step: LoginStep): Answer | Promise<Answer> {
    if ('prompt' in step) return { text: `334 ${step.prompt}\r\n`, next: 'command', isFault: false }
    this.#login = null
    return 'refusal' in step ? say(step.refusal) : this.#signIn(step.credentials)
  }

  async #signIn(credentials: Credentials): Promise<Answer> {
    const { signIn, log } = this.#settings
    try {
      const account = await (signIn as SignIn)(credentials, this.#clientAddress)
      if ('code' in account) return say(account, account.code === 421 ? 'close' : 'command')
      this.#account = account
      return say(replies.loginOk)
    } catch (error) {
      log.error({ err: error, session: this.#sessionId }, 'a sign-in could not be checked')
      return say(replies.loginLater)
    }
  }

  #mail(argument: string): SmtpReply {
    if (this.#clientName === null) return replies.helloFirst
    if (this.#settings.signIn && !this.#account) return replies.loginFirst
    if (this.#transaction) return replies.nestedMail
    const mail = parseMail(argument, this.#isEsmtp, this.#settings.signIn !== null)
    if ('code' in mail) return mail
    const { sizeBytesMax, freeBytes } = this.#settings
    if (mail.declaredSize !== null && mail.declaredSize > sizeBytesMax) return replies.messageTooBig
    // Checked before the data is sent, and early enough to leave the database room to work.
    if (freeBytes() < (mail.declaredSize ?? sizeBytesMax) * roomFactor) return replies.diskFull
    this.#transaction = {
      ...mail,
      id: `${this.#sessionId}.${++this.#transactions}`,
      clientAddress: this.#clientAddress,
      clientName: this.#clientName,
      esmtp: this.#isEsmtp,
      tls: this.#tls,
      account: this.#account,
      recipients: [],
      isRecipientRefused: false,
    }
    return replies.senderOk
  }

  #recipient(argument: string): Answer | Promise<Answer> {
    const transaction = this.#transaction
    if (!transaction) return say(this.#clientName === null ? replies.helloFirst : replies.mailFirst)
    const recipient = parseRecipient(argument, transaction.smtputf8)
    if ('code' in recipient) return say(recipient)
    const { recipients } = transaction
    if (recipients.includes(recipient.to)) return say(replies.recipientOk)
    if (transaction.from === '' && recipients.length > 0) {
      return { ...say(replies.oneRecipientForNullSender), isFault: false }
    }
    if (recipients.length >= this.#settings.limits.recipientsMax) return say(replies.tooManyRecipients)
    return this.#checkRecipient(transaction, recipient.to)
  }

  /** A refused recipient is not a protocol error, because a list with dead addresses must still reach the others. */
  async #checkRecipient(transaction: Transaction, to: string): Promise<Answer> {
    const { receiver, limits, log } = this.#settings
    const { id, from, clientAddress, clientName, esmtp, tls, smtputf8, declaredSize, account } = transaction
    const sender: SenderFacts = { id, from, clientAddress, clientName, esmtp, tls, smtputf8, declaredSize, account }
    let verdict: RecipientVerdict
    try {
      verdict = await receiver.checkRecipient(to, sender)
    } catch (error) {
      log.error({ err: error, transaction: id }, 'recipient check failed')
      verdict = { kind: 'refused', reply: replyToFailure(error, id) }
    }
    if (verdict.kind === 'accepted') {
      transaction.recipients.push(to)
      return say(replies.recipientOk)
    }
    transaction.isRecipientRefused = true
    if (verdict.reply.code >= 500 && ++this.#refusedRecipients > limits.refusedRecipientsMax) return say(replies.tooManyRefusals, 'close')
    return { ...say(verdict.reply), isFault: false }
  }

  #data(): Answer {
    const transaction = this.#transaction
    if (!transaction) return say(this.#clientName === null ? replies.helloFirst : replies.mailFirst, 'no-data')
    if (transaction.recipients.length > 0) return say(replies.sendData, 'data')
    if (!transaction.isRecipientRefused) return say(replies.recipientFirst, 'no-data')
    return { ...say(replies.noValidRecipients, 'no-data'), isFault: false }
  }
}
