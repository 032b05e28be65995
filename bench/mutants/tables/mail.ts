// Defects of reports, compose and suppression.
import type { Mutant } from '../mutant.ts'

const reports = 'packages/mail/src/reports'
const compose = 'packages/mail/src/compose'
const families = 'packages/mail/src/reports/bounce-families.test.ts'
const hardBounces = 'packages/mail/src/reports/hard-bounce.test.ts'

const row = (test: string, file: string, name: string, find: string, replace: string): Mutant => ({ name, file, find, replace, test })

export const mutants: Mutant[] = [
  // Reports
  row(
    hardBounces,
    `${reports}/hard-bounce.ts`,
    'codes before words',
    'if (livingPhrases.some((phrase) => phrase.test(words))) return false',
    'if (status === null && livingPhrases.some((phrase) => phrase.test(words))) return false',
  ),
  row(hardBounces, `${reports}/hard-bounce.ts`, 'temporary replies suppressed', 'if (isTemporary(enhancedStatus, text)) return false', ''),
  row(
    hardBounces,
    `${reports}/hard-bounce.ts`,
    'dead words only beside dead codes',
    'if (deadPhrases.some((phrase) => phrase.test(words))) return true',
    '',
  ),
  row(hardBounces, `${reports}/hard-bounce.ts`, 'vague words beside any code', '(status === null || addressCodes.test(status)) && ', ''),
  row(
    hardBounces,
    `${reports}/hard-bounce.ts`,
    'access denied is never an unknown recipient',
    'if (directoryRefusal.test(words)',
    'if (false && directoryRefusal.test(words)',
  ),
  row(
    hardBounces,
    `${reports}/hard-bounce.ts`,
    'access denied is always an unknown recipient',
    "(status === '5.4.1' || /\\b5\\.4\\.1\\b/.test(text))",
    'true',
  ),
  row(hardBounces, `${reports}/hard-bounce.ts`, 'codes ignored', 'return deadCodes.has(status)', 'return false'),
  row(hardBounces, `${reports}/hard-bounce.ts`, '5.1.0 taken for an unknown recipient', "new Set(['5.1.1',", "new Set(['5.1.0', '5.1.1',"),
  row(hardBounces, `${reports}/reply-words.ts`, 'host names taken for words', ".replace(/^.{0,200}? said: /, '')", ''),
  row(families, `${reports}/delivery-status.ts`, 'Action: expired is a delay', '/^(?:fail|expired|', '/^(?:fail|'),
  row(families, `${reports}/report.ts`, 'reason read from the quoted message', 'const own = ownText(text)', 'const own = text'),
  row(families, `${reports}/reply-search.ts`, 'version numbers taken for codes', '(?:^|[^\\d.\\w])(?<!', '(?:^|[^\\d.])(?<!'),
  row(families, `${reports}/complaint.ts`, 'complaints of Hotmail taken for messages', 'if (!isComplaint) return null', 'return null'),
  row(
    families,
    `${reports}/complaint.ts`,
    'field of a feedback loop found in the body',
    'inner.slice(0, inner.search(/\\r?\\n\\r?\\n/) >>> 0)',
    'inner',
  ),
  row(
    families,
    `${reports}/report.ts`,
    'automatic answers with an enclosed message taken for bounces',
    'if (isAutomaticAnswer(header.fields) && !failedRecipients && !isSystem) return automatic',
    '',
  ),
  row(
    families,
    `${reports}/report.ts`,
    'subjects of persons taken for bounces',
    "if (failedRecipients || isSystem || envelopeFrom === '')",
    'if (true)',
  ),
  row(
    families,
    `${reports}/bounce-words.ts`,
    'any permanent error of qmail taken for an expired message',
    'return expired.test(text)',
    'return gaveUp.test(text)',
  ),
  row(
    `${reports}/report.test.ts`,
    `${reports}/delivery-status.ts`,
    'best of the results behind an alias',
    'severity.indexOf(a.kind) - severity.indexOf(b.kind)',
    'severity.indexOf(b.kind) - severity.indexOf(a.kind)',
  ),
  row(
    `${reports}/report.test.ts`,
    `${reports}/delivery-status.ts`,
    'report about another recipient counted',
    '(own.length > 0 ? own : about)',
    'about',
  ),
  // Compose
  row(
    `${compose}/compose.test.ts`,
    `${compose}/compose.ts`,
    'enclosed message in base64',
    "...(type.startsWith('message/') ? {} : { contentTransferEncoding: 'base64' })",
    "contentTransferEncoding: 'base64'",
  ),
  row(
    `${compose}/compose.test.ts`,
    `${compose}/compose.ts`,
    'references not limited',
    'ids.length > referencesTail + 1 ?',
    'ids.length > 10_000 ?',
  ),
  row(
    `${compose}/compose.test.ts`,
    `${compose}/compose.ts`,
    'multipart types accepted for attachments',
    "if (name.startsWith('multipart/')) return 'application/octet-stream'",
    '',
  ),
  row(
    `${compose}/compose.test.ts`,
    `${compose}/compose.ts`,
    'text that looks like an encoded word sent as it is',
    " && !value.includes('=?')",
    '',
  ),
  row(
    `${compose}/custom-headers.test.ts`,
    `${compose}/custom-headers.ts`,
    'line breaks in header values accepted',
    "if (/[\\r\\n\\0\\p{Zl}\\p{Zp}]/u.test(value)) return 'A header value must not hold line breaks or NUL.'",
    '',
  ),
  row(`${compose}/custom-headers.test.ts`, `${compose}/custom-headers.ts`, 'trace fields accepted', 'traceFields.has(lower) || ', ''),
  row(
    `${compose}/custom-headers.test.ts`,
    `${compose}/custom-headers.ts`,
    'equal names in other letters accepted',
    'seen.add(name.toLowerCase())',
    'seen.add(name)',
  ),
  row(`${compose}/reply.test.ts`, `${compose}/reply.ts`, 'own address answered', '!isOwn(one) && isNew(one)', 'isNew(one)'),
  row(
    `${compose}/reply.test.ts`,
    `${compose}/reply.ts`,
    'first reference lost',
    '[ids[0] as string, ...ids.slice(1 - referencesMax)]',
    'ids.slice(-referencesMax)',
  ),
  row(`${compose}/reply.test.ts`, `${compose}/reply.ts`, 'Reply-To ignored', 'source.isSent ? [] : others(source.replyTo)', '[]'),
  // Suppression by replies to our own client
  row(
    'packages/server/src/features/mail/outbound/attempt.test.ts',
    'packages/server/src/features/mail/outbound/attempt.ts',
    'hosted addresses suppressed',
    "result.kind === 'refused' && !isHosted &&",
    "result.kind === 'refused' &&",
  ),
  row(
    'packages/server/src/features/mail/outbound/attempt.test.ts',
    'packages/server/src/features/mail/outbound/attempt.ts',
    'deferred addresses suppressed',
    "result.kind === 'refused' && !isHosted &&",
    "'answer' in result && !isHosted && result.kind !== 'delivered' &&",
  ),
  row(
    'packages/server/tests/smtp-client.test.ts',
    'packages/server/src/edges/smtp/client/transaction.ts',
    'refusals of the sender not named',
    '(in reply to MAIL FROM)',
    '',
  ),
]
