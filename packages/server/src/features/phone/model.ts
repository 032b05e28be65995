// Phone number and text rows, validation of requested numbers, and the views that the API returns.
import type { Code } from '@callsign/contract/codes'
import type { PhoneNumber, provisionPhoneNumber, SmsMedia, SmsMessage, SmsStatus } from '@callsign/contract/phones'
import type { Static } from 'typebox'
import { ApiError, invalid } from '../../core/errors.ts'
import { hasWantedCode } from '../../core/wait.ts'
import { type Country, isRegion, isTollFree, regionsOf } from './area-codes.ts'
import type { InboundText, ProviderName } from './provider.ts'

export const orderJob = 'order-number'
export const advanceJob = 'advance-number'
export const releaseJob = 'release-number'
export const fetchMediaJob = 'fetch-sms-media'

/** `released` and `failed` are final. `releasing` waits for the provider. */
export type NumberState = 'ordering' | 'active' | 'releasing' | 'released' | 'failed'

export type NumberRow = {
  id: string
  organization_id: string
  identity_id: string | null
  agent_handle: string
  provider: ProviderName
  country_code: Country
  type: 'local' | 'toll_free'
  wanted_region: string | null
  wanted_area_code: string | null
  state: NumberState
  phone_number: string | null
  provider_number_id: string | null
  ordered_at: Date | null
  uncertain_at: Date | null
  taken_numbers: string[]
  failure_code: 'no_numbers_available' | 'upstream_provider_error' | null
  failure_detail: string | null
  delivered_at: Date | null
  activated_at: Date | null
  sms_status: SmsStatus
  sms_error_code: string | null
  sms_error_detail: string | null
  created_at: Date
  updated_at: Date
}

export type Wanted = Pick<NumberRow, 'country_code' | 'type' | 'wanted_region' | 'wanted_area_code'>

/** Checks the requested number. Throws 400 with the sentence of the check that failed. */
export function readWanted(body: Static<NonNullable<typeof provisionPhoneNumber.body>>): Wanted {
  const { country_code: country = 'US', type = 'local', region = null, area_code: areaCode = null } = body
  const countryName = country === 'US' ? 'the United States' : 'Canada'
  if (region !== null && areaCode !== null) throw invalid('/area_code', 'area_code and region cannot be combined: send one of them')
  if (region !== null && type === 'toll_free') throw invalid('/region', 'a toll-free number has no region: omit region')
  if (region !== null && !isRegion(country, region)) throw invalid('/region', `${region} is not a state or province of ${countryName}`)
  if (areaCode !== null) {
    if (type === 'local' && isTollFree(areaCode))
      throw invalid('/area_code', `${areaCode} is a toll-free code: set type to toll_free or choose another area code`)
    if (type === 'toll_free' && !isTollFree(areaCode))
      throw invalid('/area_code', `${areaCode} is not a toll-free code: use 800, 833, 844, 855, 866, 877 or 888`)
    if (type === 'local' && regionsOf(country, areaCode).length === 0)
      throw invalid('/area_code', `${areaCode} is not an area code of ${countryName}`)
  }
  return { country_code: country, type, wanted_region: region, wanted_area_code: areaCode }
}

/** The region of a number: the requested one, or the first that its area code serves. Empty for toll-free numbers. */
const regionOf = (row: NumberRow): string =>
  row.type === 'toll_free' ? '' : (row.wanted_region ?? regionsOf(row.country_code, (row.phone_number as string).slice(2, 5))[0] ?? '')

/** Only for active numbers. The API does not show numbers that are being bought or released. */
export function toPhoneNumber(row: NumberRow): Static<typeof PhoneNumber> {
  return {
    id: row.id,
    phone_number: row.phone_number as string,
    country_code: row.country_code,
    type: row.type,
    region: regionOf(row),
    agent_handle: row.agent_handle,
    agent_identity_id: row.identity_id as string,
    status: 'active',
    sms_status: row.sms_status,
    sms_error: row.sms_error_code === null ? null : { code: row.sms_error_code, detail: row.sms_error_detail ?? '' },
    capabilities: { sms: true, mms: true, voice: false },
    provider: row.provider,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** The API error for a failed order. */
export const failureOf = (row: NumberRow): ApiError =>
  row.failure_code === 'no_numbers_available'
    ? new ApiError('no_numbers_available', 'The provider has no such number available. Try another area code, region or type.')
    : new ApiError('upstream_provider_error', `Buying a number from the phone provider failed: ${row.failure_detail ?? 'no reason given'}`)

export const alreadyAssigned = (handle: string): ApiError =>
  new ApiError('number_already_assigned', `The agent ${handle} has a phone number. Release it first, or use another agent.`)

export type SmsRow = {
  id: string
  organization_id: string
  phone_number_id: string
  identity_id: string | null
  phone_number: string
  agent_handle: string
  type: 'sms' | 'mms'
  from_number: string
  to_numbers: string[]
  text: string
  codes: Code[]
  is_read: boolean
  created_at: Date
}

type Media = Static<typeof SmsMedia>

export function toSmsMessage(row: SmsRow, media: Media[]): Static<typeof SmsMessage> {
  return { ...toSmsFacts(row, media), is_read: row.is_read }
}

/** A text in events, with immutable facts only. Links are left out, because they expire after an hour. */
export function toSmsFacts(row: SmsRow, media: Media[]): Omit<Static<typeof SmsMessage>, 'is_read'> {
  return {
    id: row.id,
    phone_number_id: row.phone_number_id,
    phone_number: row.phone_number,
    agent_handle: row.agent_handle,
    direction: 'inbound',
    type: row.type,
    from_number: row.from_number,
    to_numbers: row.to_numbers,
    text: row.text,
    media,
    codes: row.codes,
    created_at: row.created_at.toISOString(),
  }
}

/** Filters of a wait for a text. */
export type SmsWants = { from?: string; text?: string; has_code?: boolean; code_kind?: Code['kind'] }

const holds = (text: string, part: string | undefined): boolean => part === undefined || text.toLowerCase().includes(part.toLowerCase())

/** True when the text arrived after this time and matches every given filter. */
export const isWanted = (row: SmsRow, wants: SmsWants, after: Date | null): boolean =>
  (after === null || row.created_at > after) &&
  holds(row.from_number, wants.from) &&
  holds(row.text, wants.text) &&
  hasWantedCode(row.codes, wants)

const textCharactersMax = 65_536
const mediaMax = 20
const namesMax = 50

/** Removes characters that PostgreSQL or JSON cannot store. */
const storable = (text: string, charactersMax: number): string => text.slice(0, charactersMax).toWellFormed().replaceAll('\0', '\ufffd')

/** Truncates a text from a provider to our limits. */
export const boundText = (text: InboundText): InboundText => ({
  ...text,
  from: storable(text.from, 64),
  to: text.to.slice(0, namesMax).map((one) => storable(one, 64)),
  text: storable(text.text, textCharactersMax),
  media: text.media.slice(0, mediaMax),
})

const contentTypePattern = /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/

/** A media type in lower case without parameters. An invalid one becomes `application/octet-stream`. */
export function mediaTypeOf(contentType: string | null): string {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return contentTypePattern.test(type) && !type.startsWith('multipart/') ? type : 'application/octet-stream'
}

const extensions: Record<string, string> = {
  'audio/amr': 'amr',
  'audio/mpeg': 'mp3',
  'application/pdf': 'pdf',
  'image/gif': 'gif',
  'image/heic': 'heic',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'text/plain': 'txt',
  'text/vcard': 'vcf',
  'text/x-vcard': 'vcf',
  'video/3gpp': '3gp',
  'video/mp4': 'mp4',
}

/** Media of texts comes without file names. */
export const mediaFilename = (position: number, contentType: string): string => `media-${position + 1}.${extensions[contentType] ?? 'bin'}`

/** A text with media to fetch, as stored in its row. Media that came as bytes is stored with it, in base64. */
export type PendingText = {
  type: 'sms' | 'mms'
  from: string
  to: string[]
  text: string
  media: { url?: string; content?: string; contentType: string | null }[]
}

/** A text to store until its media is fetched. Null when it has no media to fetch. */
export function toPending({ type, from, to, text, media }: InboundText): PendingText | null {
  if (!media.some((one) => 'url' in one)) return null
  const waiting = media.map((one) =>
    'url' in one ? { url: one.url, contentType: one.contentType } : { content: one.bytes.toString('base64'), contentType: one.contentType },
  )
  return { type, from, to, text, media: waiting }
}
