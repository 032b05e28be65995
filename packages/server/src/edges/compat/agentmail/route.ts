// One row of the routes of AgentMail's API, and the values of its requests.
import { isId } from '@callsign/contract/ids'
import type { ApiCall } from '../../../core/api-call.ts'
import { type DownwardList, readUpwards } from '../../../core/upward-page.ts'

export type AgentMailRequest = {
  params: Record<string, string>
  query: Record<string, string | string[] | undefined>
  /** The parsed body. Its fields are not checked. */
  body: Record<string, unknown>
  headers: Record<string, string | string[] | undefined>
  call: ApiCall
}

export type AgentMailRoute = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below the base address, with parameters as `:name`. */
  path: string
  /** True for a path that exists below a pod too. */
  isInPod?: boolean
  bodyBytesMax?: number
  /** Answers 204 without a body when it resolves with undefined. */
  run(request: AgentMailRequest): Promise<unknown>
}

/** An error as AgentMail's API answers it. */
export class AgentMailFailure extends Error {
  readonly statusCode: number
  override readonly name: string
  readonly code: string
  constructor(statusCode: number, name: string, code: string, message: string) {
    super(message)
    this.statusCode = statusCode
    this.name = name
    this.code = code
  }
}

/** An answer that is not JSON. */
export class TextAnswer {
  readonly contentType: string
  readonly text: string
  constructor(contentType: string, text: string) {
    this.contentType = contentType
    this.text = text
  }
}

/** The answer to a feature that Callsign does not have. */
export const notOffered = (feature: string): AgentMailFailure =>
  new AgentMailFailure(501, 'NotOfferedError', 'not_offered', `${feature} is not offered by Callsign.`)

export const wrongValue = (message: string): AgentMailFailure => new AgentMailFailure(400, 'ValidationError', 'validation_error', message)

export const notThere = (thing: string): AgentMailFailure => new AgentMailFailure(404, 'NotFoundError', 'not_found', `${thing} not found`)

/** The id of the only pod. */
export const podId = 'default'

/** The parameters of a path that has them by its route. */
export const parameter = ({ params }: AgentMailRequest, name: string): string => params[name] ?? ''

/** One value of the query. Undefined without it. */
export function queryValue({ query }: AgentMailRequest, name: string): string | undefined {
  const value = query[name]
  return Array.isArray(value) ? value.at(-1) : value
}

export const isSet = (request: AgentMailRequest, name: string): boolean => queryValue(request, name) === 'true'

/** A list in the query. The SDK writes it as JSON, and other clients repeat the name. */
export function queryList({ query }: AgentMailRequest, name: string): string[] {
  const given = query[name]
  const values = given === undefined ? [] : [given].flat()
  return values.flatMap((value) => {
    if (!value.startsWith('[')) return [value]
    const list = parsed(value)
    if (!Array.isArray(list) || !list.every((one) => typeof one === 'string')) throw wrongValue(`\`${name}\` must be a list of strings.`)
    return list as string[]
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type PageRequest = { limit: number; cursor?: string }

/** Limit and token of a list, as our lists take them. */
export function pageOf(request: AgentMailRequest, limitDefault = 20): PageRequest {
  const text = queryValue(request, 'limit')
  const limit = text === undefined ? limitDefault : Number(text)
  if (!Number.isInteger(limit) || limit < 1) throw wrongValue('`limit` must be a whole number from 1.')
  const cursor = queryValue(request, 'page_token')
  return { limit: Math.min(limit, pageLimitMax), ...(cursor !== undefined && { cursor }) }
}

export type AgentMailPage<T> = { data: T[]; limit: number; next: string | null }

/** A page of a list that is newest first, in the order of the request. */
export async function readList<T>(request: AgentMailRequest, list: DownwardList<T>): Promise<AgentMailPage<T>> {
  const page = pageOf(request)
  if (!isSet(request, 'ascending')) {
    const { data, next_cursor } = await list.read(page)
    return { data, limit: page.limit, next: next_cursor }
  }
  if (page.cursor !== undefined && !isId(list.kind, page.cursor)) throw wrongValue('`page_token` must be the token of the previous page.')
  const { data, has_more } = await readUpwards(list, { above: page.cursor ?? null, limit: page.limit })
  const last = data.at(-1)
  return { data, limit: page.limit, next: has_more && last !== undefined ? list.positionOf(last) : null }
}

/** The position of an item in most lists. */
export const byId = ({ id }: { id: string }): string => id

/** Our lists have at most 100 items per page. */
export const pageLimitMax = 100

/** A page of a list: `{ count, limit, next_page_token, [name]: items }`. */
export const listOf = <T>(name: string, items: T[], limit: number, next: string | null): Record<string, unknown> => ({
  count: items.length,
  limit,
  ...(next !== null && { next_page_token: next }),
  [name]: items,
})

/** A field of the body as text. Undefined without it. */
export function optionalText({ body }: AgentMailRequest, name: string): string | undefined {
  const value = body[name]
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw wrongValue(`\`${name}\` must be a string.`)
  return value
}

export function requiredText(request: AgentMailRequest, name: string): string {
  const value = optionalText(request, name)
  if (value === undefined || value === '') throw wrongValue(`\`${name}\` is required.`)
  return value
}

/** One or several texts of the body as a list. Undefined without them. */
export function optionalList({ body }: AgentMailRequest, name: string): string[] | undefined {
  const value = body[name]
  if (value === undefined || value === null) return undefined
  const list = [value].flat()
  if (!list.every((one): one is string => typeof one === 'string')) throw wrongValue(`\`${name}\` must be a string or a list of strings.`)
  return list
}

/** The fields with a value. */
export function present<T extends Record<string, unknown>>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never
}
