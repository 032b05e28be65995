// The fixed SMTP replies, and their rendering as bytes.

/** One reply. `enhanced` is an RFC 3463 code, or '' where RFC 2034 §4 allows none (greeting, HELO, 354). */
export type SmtpReply = { code: number; enhanced: string; text: string }

/** A reply line has at most 512 octets with its code and CRLF (RFC 5321 §4.5.3.1.5). */
const textLengthMax = 480

const reply = (code: number, enhanced: string, text: string): SmtpReply => ({ code, enhanced, text })

/** Every fixed reply of the server, by situation. */
export const replies = {
  ok: reply(250, '2.0.0', 'Ok'),
  senderOk: reply(250, '2.1.0', 'Sender ok'),
  recipientOk: reply(250, '2.1.5', 'Recipient ok'),
  sendData: reply(354, '', 'End data with <CR><LF>.<CR><LF>'),
  cannotVerify: reply(252, '2.0.0', 'Cannot verify the user, but will take the message and try to deliver it'),
  help: reply(214, '2.0.0', 'Commands: EHLO HELO MAIL RCPT DATA RSET NOOP VRFY STARTTLS HELP QUIT (RFC 5321)'),
  bye: reply(221, '2.0.0', 'Bye'),
  readyForTls: reply(220, '2.0.0', 'Ready to start TLS'),

  unknownCommand: reply(500, '5.5.1', 'Command not recognized'),
  notImplemented: reply(502, '5.5.1', 'Command not implemented'),
  loginOk: reply(235, '2.7.0', 'Authentication succeeded'),
  loginFailed: reply(535, '5.7.8', 'Authentication failed: give an address of the agent as user name and its API key as password'),
  loginCancelled: reply(501, '5.7.0', 'Authentication cancelled'),
  loginSyntax: reply(501, '5.5.2', 'Bad Base64 or parts of the credentials'),
  loginDone: reply(503, '5.5.1', 'Already authenticated'),
  loginLater: reply(454, '4.7.0', 'Temporary authentication failure, try again later'),
  tooManyLogins: reply(421, '4.7.0', 'Too many failed authentications from your address, try again later'),
  mechanismUnknown: reply(504, '5.5.4', 'Authentication mechanism not offered'),
  tlsFirst: reply(538, '5.7.11', 'Encryption is needed first: send STARTTLS'),
  loginFirst: reply(530, '5.7.0', 'Authentication is needed first'),
  authNotOffered: reply(503, '5.5.1', 'Authentication is not offered here'),
  tlsNotOffered: reply(502, '5.5.1', 'STARTTLS is not offered'),
  tlsActive: reply(503, '5.5.1', 'TLS is already active'),
  commandTooLong: reply(500, '5.5.2', 'Command line too long'),
  commandNotText: reply(500, '5.5.2', 'Command line holds bytes that are no text'),
  noParameters: reply(501, '5.5.4', 'This command takes no parameters'),
  clientNameBad: reply(501, '5.5.4', 'A domain name or address literal is needed'),
  helloFirst: reply(503, '5.5.1', 'Say EHLO first'),
  nestedMail: reply(503, '5.5.1', 'MAIL was already given, send RSET first'),
  mailFirst: reply(503, '5.5.1', 'MAIL is needed first'),
  recipientFirst: reply(503, '5.5.1', 'RCPT is needed first'),
  noValidRecipients: reply(554, '5.5.1', 'No valid recipients'),
  senderSyntax: reply(501, '5.1.7', 'Bad sender address syntax'),
  recipientSyntax: reply(501, '5.1.3', 'Bad recipient address syntax'),
  needsSmtputf8: reply(553, '5.6.7', 'An address beyond ASCII needs SMTPUTF8'),
  parameterSyntax: reply(501, '5.5.4', 'Bad parameter'),
  parameterUnknown: reply(555, '5.5.4', 'Parameter not recognized or not implemented'),
  oneRecipientForNullSender: reply(550, '5.5.3', 'A message from <> takes one recipient'),
  tooManyRecipients: reply(452, '4.5.3', 'Too many recipients'),

  messageTooBig: reply(552, '5.3.4', 'Message size exceeds the limit'),
  headerTooBig: reply(552, '5.3.4', 'Message header exceeds the limit'),
  dataLineTooLong: reply(500, '5.5.2', 'Message line too long'),
  tooManyHops: reply(554, '5.4.6', 'Too many Received fields: mail loop'),
  diskFull: reply(452, '4.3.1', 'Insufficient storage, try again later'),
  memoryFull: reply(452, '4.3.1', 'Insufficient memory, try again later'),

  bareLineEnd: reply(521, '5.5.2', 'bare CR or LF not allowed'),
  nulByte: reply(521, '5.5.2', 'NUL not allowed'),
  earlyTalker: reply(554, '5.5.1', 'Bytes came before the greeting'),
  earlyData: reply(521, '5.5.1', 'Bytes came before the answer to DATA'),
  earlyTls: reply(521, '5.5.1', 'Bytes came between STARTTLS and the handshake'),
  notHttp: reply(521, '5.5.1', 'This is an SMTP server'),

  tooManyErrors: reply(421, '4.7.0', 'Too many errors'),
  tooManyRefusals: reply(421, '4.7.0', 'Too many refused recipients'),
  tooManyFromAddress: reply(421, '4.7.0', 'Too many connections from your address'),
  tooManyConnections: reply(421, '4.3.2', 'Too many connections, try again later'),
  commandTimeout: reply(421, '4.4.2', 'Timeout waiting for a command'),
  dataTimeout: reply(421, '4.4.2', 'Message data came too slowly'),
  sessionTimeout: reply(421, '4.4.2', 'Session lasted too long'),
  shuttingDown: reply(421, '4.3.2', 'Shutting down, try again later'),
  internalFailure: reply(421, '4.3.0', 'Internal failure, try again later'),
} as const satisfies Record<string, SmtpReply>

/** The reply line with its CRLF. For any text, the result is one line of printable ASCII within 512 octets. */
export function renderReply({ code, enhanced, text }: SmtpReply): string {
  const safe = /^[ -~]*$/.test(text) ? text : text.replace(/[^ -~]+/g, '?')
  return `${code} ${enhanced === '' ? '' : `${enhanced} `}${safe.slice(0, textLengthMax)}\r\n`
}

/** A multi-line reply without enhanced codes, as EHLO requires (RFC 5321 §4.2.1). */
export const renderLines = (code: number, lines: readonly string[]): string =>
  lines.map((line, index) => `${code}${index === lines.length - 1 ? ' ' : '-'}${line}\r\n`).join('')
