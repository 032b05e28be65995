// The AUTH command of submission: PLAIN (RFC 4616) and LOGIN, as lines of one exchange (RFC 4954 §4).
import { replies, type SmtpReply } from './reply.ts'

export type Credentials = { username: string; password: string }

/** The next step of an exchange: a prompt for the client, credentials to check, or a refusal. */
export type LoginStep = { prompt: string } | { credentials: Credentials } | { refusal: SmtpReply }

/** Prompts in Base64: `Username:` and `Password:`. Programs look for these words. */
const usernamePrompt = 'VXNlcm5hbWU6'
const passwordPrompt = 'UGFzc3dvcmQ6'

/** One exchange. It ends with credentials or a refusal. */
export class Login {
  readonly #mechanism: 'PLAIN' | 'LOGIN'
  #username: string | null = null

  private constructor(mechanism: 'PLAIN' | 'LOGIN') {
    this.#mechanism = mechanism
  }

  /** Starts an exchange from the argument of AUTH: the mechanism, and perhaps its first response. */
  static start(argument: string): { login: Login; step: LoginStep } | { refusal: SmtpReply } {
    const [name = '', initial, ...rest] = argument.split(' ')
    const mechanism = name.toUpperCase()
    if (rest.length > 0) return { refusal: replies.parameterSyntax }
    if (mechanism !== 'PLAIN' && mechanism !== 'LOGIN') return { refusal: replies.mechanismUnknown }
    const login = new Login(mechanism)
    if (initial !== undefined) return { login, step: login.next(initial) }
    return { login, step: { prompt: mechanism === 'PLAIN' ? '' : usernamePrompt } }
  }

  /** Reads one line of the client. `*` cancels, and `=` is an empty response. */
  next(line: string): LoginStep {
    if (line === '*') return { refusal: replies.loginCancelled }
    const text = decode(line === '=' ? '' : line)
    if (text === null) return { refusal: replies.loginSyntax }
    if (this.#mechanism === 'PLAIN') {
      // The first part is an identity to act for, which may be left out or repeat the user.
      const [actsFor, username, password, ...rest] = text.split('\0')
      const isWhole = username !== undefined && password !== undefined && rest.length === 0
      if (!isWhole || (actsFor !== '' && actsFor !== username)) return { refusal: replies.loginSyntax }
      return { credentials: { username, password } }
    }
    if (this.#username !== null) return { credentials: { username: this.#username, password: text } }
    this.#username = text
    return { prompt: passwordPrompt }
  }
}

/** Base64 of UTF-8 text, or null. */
function decode(line: string): string | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(line) || line.length % 4 !== 0) return null
  const bytes = Buffer.from(line, 'base64')
  const text = bytes.toString('utf8')
  return Buffer.from(text).equals(bytes) ? text : null
}
