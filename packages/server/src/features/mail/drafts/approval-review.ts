// The review of a draft: the message that would be sent, with warnings. Every screen on which a person approves shows this.
import type { DraftReview } from '@callsign/contract/approvals'
import type { ReviewedHtml } from '@callsign/mail/html/review'
import type { Static } from 'typebox'
import { domainOf, type MailboxOwner, normalizeAddress } from '../../account/identities/model.ts'
import type { Identities } from '../../account/identities/operations.ts'
import type { ContentWriter, Messages } from '../messages/operations.ts'
import { toRecipientRows } from '../outbound/model.ts'
import { composedFields, replyAddressesOf } from '../outbound/operations.ts'
import type { ComposedDraft } from './composed-draft.ts'
import type { PreparedDraft } from './draft-queue.ts'
import { type DraftRow, missingParts } from './model.ts'

type Review = Static<typeof DraftReview>
type Warning = Review['warnings'][number]

type Parts = {
  identities: Identities
  messages: Messages
  content: ContentWriter
  prepareDraft: (owner: MailboxOwner, row: DraftRow, keyId: string | null) => Promise<PreparedDraft>
}

const manyRecipients = 5
const namedMax = 10
const imagesMax = 20

/** The first ones of a list as text, and the number of the others. */
const listed = (values: string[]): string =>
  [...values.slice(0, namedMax), ...(values.length > namedMax ? [`${values.length - namedMax} more`] : [])].join(', ')

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

export function createApprovalReview({ identities, messages, content, prepareDraft }: Parts) {
  /** The recipients elsewhere: by domain, or by address where agents of the organization have addresses at the domain. */
  async function findExternal(owner: MailboxOwner, ownAddresses: string[], addresses: string[]): Promise<string[]> {
    const ownDomains = new Set(ownAddresses.map(domainOf))
    const external = await Promise.all(
      addresses.map(async (address) => {
        if ((await identities.findHosted(address))?.organizationId === owner.organizationId) return []
        const domain = domainOf(normalizeAddress(address) ?? address)
        return ownDomains.has(domain) ? [address] : [domain]
      }),
    )
    return [...new Set(external.flat())]
  }

  async function findFirstContacts(owner: MailboxOwner, addresses: string[]): Promise<string[]> {
    const some = addresses.slice(0, namedMax)
    const isKnown = await Promise.all(some.map((address) => messages.hasExchanged(owner.mailboxId, address)))
    return some.filter((_, index) => !isKnown[index])
  }

  async function findWarnings(owner: MailboxOwner, { row, composed, inspection }: PreparedDraft): Promise<Warning[]> {
    const addresses = [...new Set(toRecipientRows(composed.recipients).map(({ address }) => address.toLowerCase()))]
    const ownAddresses = await identities.findAddresses(owner.identityId)
    const [external, first] = await Promise.all([findExternal(owner, ownAddresses, addresses), findFirstContacts(owner, addresses)])
    const { from } = composed
    const hidden = composed.recipients.bcc.length
    return [
      ...missingParts(row).map(({ message }) => warning('not_composed', `The draft cannot be sent yet: ${message}.`)),
      ...[...new Set([...row.approval_reasons, ...inspection.reasons])].map((reason) => warning('held', reason)),
      ...(from.name === owner.displayName
        ? []
        : [
            warning(
              'from_name',
              `Sent under the name ${JSON.stringify(from.name)}. The agent has the name ${JSON.stringify(owner.displayName)}.`,
            ),
          ]),
      ...replyWarnings(composed, [owner.address, from.address, ...ownAddresses]),
      ...(external.length > 0 ? [warning('external', `Leaves the organization, to ${listed(external)}.`)] : []),
      ...(first.length > 0 ? [warning('first_contact', `First contact with ${listed(first)}.`)] : []),
      ...(addresses.length > manyRecipients ? [warning('many_recipients', `Goes to ${addresses.length} recipients.`)] : []),
      ...(hidden > 0 ? [warning('hidden_recipients', `Has ${plural(hidden, 'hidden recipient')}.`)] : []),
    ]
  }

  return async (owner: MailboxOwner, draft: DraftRow): Promise<Review> => {
    const prepared = await prepareDraft(owner, draft, null)
    const { composed, files } = prepared
    const html = composed.html === '' ? null : await content.toReview(owner.organizationId, composed.html)
    const images = html?.images ?? []
    return {
      draft_id: draft.id,
      version: draft.version,
      agent_handle: owner.handle,
      fields: composedFields(composed),
      text: composed.text,
      html: composed.html || null,
      html_text: html?.text ?? null,
      images: images.slice(0, imagesMax),
      attachments: files,
      warnings: [...(await findWarnings(owner, prepared)), ...htmlWarnings(html)],
      expires_at: draft.approval_expires_at?.toISOString() ?? null,
    }
  }
}

/** Warnings of what an HTML body shows to some recipients only, or beside its text. */
function htmlWarnings(html: ReviewedHtml | null): Warning[] {
  if (html === null) return []
  const { hidden, styles, images } = html
  return [
    ...(hidden.length > 0 ? [warning('hidden_text', `The HTML hides text, which this review marks as not shown: ${quoted(hidden)}.`)] : []),
    ...(styles.length > 0
      ? [warning('html_styles', `The styles of the HTML can hide, move or add text, so look at it in the console: ${styles.join(', ')}.`)]
      : []),
    ...(images.length > 0 ? [warning('images', `The HTML shows ${plural(images.length, 'image')}, which this review does not show.`)] : []),
  ]
}

const quoted = (texts: string[]): string => texts.map((text) => JSON.stringify(text)).join(', ')

const warning = (code: Warning['code'], text: string): Warning => ({ code, text })

/** A warning for each field that asks others to write to an address that is not the agent's. */
const replyWarnings = (composed: ComposedDraft, ownAddresses: string[]): Warning[] =>
  [...Map.groupBy(replyAddressesOf(composed, ownAddresses), ({ field }) => field)].map(([field, found]) => {
    const addresses = listed(found.map(({ address }) => address))
    return warning('reply_to', field === 'reply_to' ? `Replies go to ${addresses}.` : `The header ${field.slice(8)} names ${addresses}.`)
  })
