// Reads the answers of an S3 store, which are XML.
import type { Dispatcher } from 'undici'
import { BlobsUnavailable } from '../../core/blobs.ts'

/** An error response of the store, with its status and code. Its message is not kept. */
export class S3Failure extends Error {
  override name = 'S3Failure'
  readonly status: number
  readonly code: string

  constructor(operation: string, status: number, code: string) {
    super(`S3 ${operation} failed: ${status} ${code}`)
    this.status = status
    this.code = code
  }
}

/** A request below the bucket. `key` is empty for the bucket itself. */
export type S3Call = {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  key: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: Buffer
}

const answerBytesMax = 4 * 1024 * 1024

/** True for an answer that another attempt may not get. */
export const isTemporary = ({ statusCode }: Dispatcher.ResponseData): boolean => statusCode >= 500 || statusCode === 429

/** The error of an answer. A temporary one is BlobsUnavailable with the failure as its cause. */
export async function failureOf(operation: string, answer: Dispatcher.ResponseData): Promise<S3Failure | BlobsUnavailable> {
  const code = element(await textOf(answer).catch(() => ''), 'Code')?.slice(0, 64) ?? 'unknown'
  const failure = new S3Failure(operation, answer.statusCode, code)
  return isTemporary(answer) ? new BlobsUnavailable(failure.message, { cause: failure }) : failure
}

export async function textOf({ body }: Dispatcher.ResponseData): Promise<string> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    length += chunk.length
    if (length > answerBytesMax) throw new Error(`the S3 store's answer is larger than ${answerBytesMax} bytes`)
  }
  return Buffer.concat(chunks).toString()
}

/** The contents of every element of that name. */
export const elements = (xml: string, name: string): string[] =>
  [...xml.matchAll(new RegExp(`<${name}>([\\s\\S]*?)</${name}>`, 'g'))].map(([, content = '']) => content)

/** The text of the first element of that name, its XML entities resolved. */
export function element(xml: string, name: string): string | undefined {
  const start = xml.indexOf(`<${name}>`)
  const end = start < 0 ? -1 : xml.indexOf(`</${name}>`, start)
  if (end < 0) return undefined
  const entities: Record<string, string> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' }
  return xml.slice(start + name.length + 2, end).replace(/&(lt|gt|quot|apos|amp);/g, (_whole, entity: string) => entities[entity] as string)
}
