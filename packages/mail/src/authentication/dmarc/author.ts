// The author of a message: whom the checks and the reader agree on.
import type { ParsedAddress } from '../../mime/addresses.ts'
import type { ParsedMessage } from '../../mime/parse.ts'
import type { Verdicts } from '../sender-checks.ts'
import { distinctAuthors, readDomain } from './author-domain.ts'

/** The author of a message: the one mailbox in From, when the checks agree that there is exactly one. Sender and the return path are no authors. */
export function authorOf({ from }: Pick<ParsedMessage, 'from'>, { source, dmarc }: Verdicts): ParsedAddress | null {
  const [author, ...others] = distinctAuthors(from)
  if (!author || others.length > 0 || dmarc?.result === 'permerror') return null
  if (source !== 'smtp' || dmarc?.domain == null) return author
  // The header is parsed twice, for authentication and for display. The displayed author must be the authenticated one.
  const read = readDomain(author.address)
  return 'domain' in read && read.domain === dmarc.domain ? author : null
}
