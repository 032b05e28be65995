// The filter of the message list, with folder, mailbox and search, as it is in the address.
import type { MessageSummary } from '@callsign/sdk'

export const folders = ['inbox', 'unread', 'starred', 'drafts', 'scheduled', 'sent', 'all', 'archive', 'spam', 'trash'] as const
export type Folder = (typeof folders)[number]

export type MailFilter = { mailbox: string; folder: Folder; label: string; search: string }

/** Reads the filter from the query of the address. An empty mailbox means all of them. */
export function readFilter(query: URLSearchParams): MailFilter {
  const folder = query.get('folder') as Folder | null
  return {
    mailbox: query.get('mailbox') ?? '',
    folder: folder && folders.includes(folder) ? folder : 'inbox',
    label: query.get('label') ?? '',
    search: query.get('q') ?? '',
  }
}

/** The content of the list: threads of a folder, messages that a search found, or drafts. */
export function listKindOf({ folder, search }: MailFilter): 'threads' | 'messages' | 'drafts' {
  if (folder === 'drafts') return 'drafts'
  const isSearch = search !== '' && folder !== 'archive' && folder !== 'spam'
  return isSearch || folder === 'starred' ? 'messages' : 'threads'
}

export type ListQuery = {
  /** The folder of the thread. Only lists of the server check it. */
  folder?: 'inbox'
  is_read?: boolean
  is_starred?: boolean
  direction?: 'inbound' | 'outbound'
  label?: string
  flag?: string
  /** A tag as name:value. */
  tag?: string
  /** Metadata as key:value. */
  metadata?: string
  from?: string
  to?: string
  subject?: string
  after?: string
  before?: string
}

export type Search = {
  /** Words and phrases for the full-text search. */
  text: string
  /** Conditions that the server checks in a list. */
  list: ListQuery
  /** True for messages that contain a code or link. */
  hasCode: boolean
  hasAttachment: boolean
  /** Explains the first operator whose value has a wrong form. */
  problem: string | null
}

const operatorPattern = /(-?)\b(from|to|subject|label|tag|metadata|flag|is|has|after|before):("[^"]*"|\S+)/gi

/** The forms of operators that do not take every value. */
const forms: Record<string, string> = {
  tag: 'tag:NAME:VALUE, in letters, digits, _ and -',
  metadata: 'metadata:KEY:VALUE, in quotes if it has spaces',
  is: 'is:unread, is:read or is:starred',
  has: 'has:code or has:attachment',
  after: 'after:YYYY-MM-DD',
  before: 'before:YYYY-MM-DD',
}

/** Splits a search such as `from:ada is:unread invoice` into conditions and words. Unknown values stay words. */
export function parseSearch(search: string): Search {
  const found: Search = { text: '', list: {}, hasCode: false, hasAttachment: false, problem: null }
  const rest = search.replace(operatorPattern, (whole, minus: string, name: string, quoted: string) => {
    const value = quoted.replace(/^"|"$/g, '')
    if (minus !== '' || value === '') return whole
    if (take(found, name.toLowerCase(), value)) return ' '
    found.problem ??= `${whole} is not a filter. Write ${forms[name.toLowerCase()]}.`
    return whole
  })
  found.text = rest.replace(/\s+/g, ' ').trim()
  return found
}

function take(found: Search, name: string, value: string): boolean {
  const { list } = found
  if (name === 'from' || name === 'to' || name === 'subject' || name === 'label' || name === 'flag') list[name] = value
  else if (name === 'tag' && /^[\w-]+:[\w-]+$/.test(value)) list.tag = value
  else if (name === 'metadata' && /^[^:]+:/.test(value)) list.metadata = value
  else if (name === 'after' || name === 'before') {
    const time = Date.parse(value)
    if (Number.isNaN(time)) return false
    list[name] = new Date(time).toISOString()
  } else if (name === 'is' && (value === 'unread' || value === 'read')) list.is_read = value === 'read'
  else if (name === 'is' && value === 'starred') list.is_starred = true
  else if (name === 'has' && value === 'code') found.hasCode = true
  else if (name === 'has' && value === 'attachment') found.hasAttachment = true
  else return false
  return true
}

const folderQueries: Partial<Record<Folder, ListQuery>> = {
  inbox: { folder: 'inbox', direction: 'inbound' },
  unread: { folder: 'inbox', direction: 'inbound', is_read: false },
  starred: { is_starred: true },
  sent: { direction: 'outbound' },
  all: {},
}

/** Conditions of folder, label and search together. Those of the search win, and it finds archived and spam threads too. */
export function listQueryOf(filter: MailFilter, search: Search): ListQuery {
  const { folder, ...conditions } = folderQueries[filter.folder] ?? {}
  return {
    ...(folder && filter.search === '' ? { folder } : {}),
    ...conditions,
    ...(filter.label ? { label: filter.label } : {}),
    ...search.list,
  }
}

const contains = (text: string, part: string | undefined): boolean => part === undefined || text.toLowerCase().includes(part.toLowerCase())

/** Checks the conditions in the page, except the folder. The full-text search of the server takes words only, and finds every folder. */
export function matches(message: MessageSummary, query: ListQuery, search: Search): boolean {
  return (
    (query.is_read === undefined || message.is_read === query.is_read) &&
    (query.is_starred === undefined || message.is_starred === query.is_starred) &&
    (query.direction === undefined || message.direction === query.direction) &&
    (query.label === undefined || message.labels.includes(query.label)) &&
    (query.tag === undefined || message.tags.some((tag) => `${tag.name}:${tag.value}` === query.tag)) &&
    (query.metadata === undefined || Object.entries(message.metadata).some(([key, value]) => `${key}:${value}` === query.metadata)) &&
    (query.flag === undefined || message.flags.some((flag) => flag.type === query.flag)) &&
    contains(message.from, query.from) &&
    contains([...message.to, ...message.cc].join(' '), query.to) &&
    contains(message.subject, query.subject) &&
    (query.after === undefined || message.created_at > query.after) &&
    (query.before === undefined || message.created_at < query.before) &&
    (!search.hasCode || message.codes.length > 0) &&
    (!search.hasAttachment || message.attachments.length > 0)
  )
}
