// The task of the scripted agent: sign up at a site, wait for the code, store a password in the vault, and reply to a mail under approval.
import { randomBytes } from 'node:crypto'
import { createTransport } from 'nodemailer'

const empty = { type: 'object', properties: {} }
const fields = (...names) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
  required: names,
  additionalProperties: false,
})

/** A site on the web: its sign-up mails a code, and the code confirms the account. */
export function createSite(smtpPort) {
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, tls: { rejectUnauthorized: false } })
  const codes = new Map()
  return {
    confirmed: new Set(),
    async signUp(email) {
      const code = String(100_000 + (randomBytes(4).readUInt32BE() % 900_000))
      codes.set(email, code)
      await transport.sendMail({
        from: 'Garden shop <no-reply@garden.example>',
        to: email,
        subject: 'Your verification code',
        text: `Your verification code is ${code}. It expires in 10 minutes.`,
      })
    },
    confirm(email, code) {
      if (codes.get(email) !== code) return false
      this.confirmed.add(email)
      return true
    },
    close: () => transport.close(),
  }
}

/**
 * The tools that the program of the agent adds: its browser, and a password that is made and stored in the vault without the model seeing it.
 */
export function createOwnTools({ site, vault, agent }) {
  let email = ''
  const own = (name, description, inputSchema, run) => ({
    name,
    title: name,
    description,
    toolset: 'events',
    inputSchema,
    outputSchema: empty,
    isReadOnly: false,
    isDestructive: false,
    execute: async (input) => {
      const text = await run(input)
      return { isError: false, text, structured: { summary: text } }
    },
  })
  return [
    own('site_sign_up', 'Fills in the sign-up form of the site.', fields('email'), async (input) => {
      email = input.email
      await site.signUp(email)
      return 'The site has sent a code.'
    }),
    own('site_confirm', 'Enters the code at the site.', fields('code'), async ({ code }) =>
      site.confirm(email, code) ? 'The account is confirmed.' : 'The code is wrong.',
    ),
    own('password_create', 'Makes a password for the site and stores it in the vault.', fields('username'), async ({ username }) => {
      const password = randomBytes(18).toString('base64url')
      await vault.create({ type: 'login', name: `garden of ${agent}`, payload: { username, password } })
      return `The password of ${username} is in the vault.`
    }),
  ]
}

const found = (transcript, pattern) => {
  const all = [...transcript.matchAll(pattern)]
  if (all.length === 0) throw new Error(`the model found no ${pattern} in ${transcript.slice(-600)}`)
  return all.at(-1)[1]
}

/** A model that reads the conversation so far as text, and answers with the next call, or with null at the end. */
export function createScript() {
  const startedAt = new Date(Date.now() - 1000).toISOString()
  const steps = [
    () => ['whoami', {}],
    (text) => ['site_sign_up', { email: found(text, /email_address: ([a-z0-9_]+@[a-z0-9.-]+)/g) }],
    () => ['mail_wait', { subject: 'verification code', after: startedAt, timeout: 30 }],
    (text) => ['site_confirm', { code: found(text, /Codes: (\d{6})/g) }],
    (text) => ['password_create', { username: found(text, /email_address: ([a-z0-9_]+@[a-z0-9.-]+)/g) }],
    () => ['mail_list', { subject: 'Order 2207' }],
    (text) => ['mail_reply', { message_id: found(text, /id: (msg_[a-z0-9]{26})/g), text: 'We deliver on Friday.' }],
  ]
  let turn = 0
  return (transcript) => steps[turn++]?.(transcript) ?? null
}
