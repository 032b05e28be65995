// A small S3 store for tests. It keeps objects in memory, and accepts only requests signed as by the independent package aws4.
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { crc32 } from 'node:zlib'
import { sign } from 'aws4'

export type S3Credentials = { accessKeyId: string; secretAccessKey: string; sessionToken?: string }

export type S3Store = {
  endpoint: string
  objects: Map<string, { bytes: Buffer; modifiedMs: number; checksum?: string | undefined }>
  /** Multipart uploads that have not ended, by id. */
  uploads: Map<string, { key: string; parts: Map<number, Buffer>; begunMs: number }>
  /** Requests so far, `METHOD /path?query`. */
  requests: string[]
  /** One fault per request, applied first. It is a status, `drop` to cut the connection, or `half` to cut it inside a body. */
  faults: (number | 'drop' | 'half' | 'hang')[]
  /** Cuts the connection before the next answer. */
  cutNext: boolean
  /** Runs before each object is looked up for a GET, which waits for it. */
  beforeGet: ((key: string) => Promise<void>) | null
  close(): Promise<void>
}

const pageSize = 3
const escapeXml = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
function crcOf(bytes: Buffer): string {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(crc32(bytes))
  return sum.toString('base64')
}
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Starts a store with one bucket, reached by path style. */
export async function startS3Store(bucket: string, region: string, credentials: S3Credentials): Promise<S3Store> {
  const objects: S3Store['objects'] = new Map()
  const uploads: S3Store['uploads'] = new Map()
  const requests: string[] = []
  const faults: S3Store['faults'] = []

  const server = createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url}`)
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks)
    const fault = faults.shift()
    if (fault === 'drop') return void request.socket.destroy()
    if (fault === 'hang') return
    if (typeof fault === 'number') return refuse(response, fault, 'SlowDown')
    if (!isSigned(request, body)) return refuse(response, 403, 'SignatureDoesNotMatch')
    const url = new URL(request.url as string, 'http://store')
    const [, named, ...rest] = decodeURIComponent(url.pathname).split('/')
    if (named !== bucket) return refuse(response, 404, 'NoSuchBucket')
    const key = rest.join('/')
    if (['uploads', 'uploadId'].some((name) => url.searchParams.has(name))) return answerMultipart(request, response, url, key, body)
    if (request.method === 'GET' && key === '') return list(url, response)
    if (request.method === 'PUT') {
      const checksum = request.headers['x-amz-checksum-crc32'] as string | undefined
      if (checksum !== undefined && checksum !== crcOf(body)) return refuse(response, 400, 'BadDigest')
      objects.set(key, { bytes: body, modifiedMs: Date.now(), checksum })
      return void response.writeHead(200).end()
    }
    if (request.method === 'DELETE') {
      objects.delete(key)
      return void response.writeHead(204).end()
    }
    if (request.method === 'GET') await store.beforeGet?.(key)
    const object = objects.get(key)
    if (!object) return refuse(response, 404, 'NoSuchKey')
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
    if (range && Number(range[1]) >= object.bytes.length) return refuse(response, 416, 'InvalidRange')
    const bytes = range ? object.bytes.subarray(Number(range[1]), Number(range[2]) + 1) : object.bytes
    const sum =
      object.checksum === undefined || request.headers['x-amz-checksum-mode'] !== 'ENABLED'
        ? {}
        : { 'x-amz-checksum-crc32': object.checksum }
    response.writeHead(range ? 206 : 200, { 'content-length': bytes.length, ...sum })
    if (request.method === 'HEAD') return void response.end()
    if (fault !== 'half') return void response.end(bytes)
    response.write(bytes.subarray(0, bytes.length / 2), () => request.socket.destroy())
  })

  function isSigned(request: IncomingMessage, body: Buffer): boolean {
    const signedNames = /SignedHeaders=([^,]+)/.exec(request.headers.authorization ?? '')?.[1]?.split(';') ?? []
    if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((name) => signedNames.includes(name))) return false
    if (request.headers['x-amz-content-sha256'] !== sha256(body)) return false
    if (credentials.sessionToken && !signedNames.includes('x-amz-security-token')) return false
    const headers = Object.fromEntries(signedNames.map((name) => [name, String(request.headers[name])]))
    const expected = sign({ service: 's3', region, method: request.method as string, path: request.url as string, headers }, credentials)
    return expected.headers?.Authorization === request.headers.authorization
  }

  function answerMultipart(request: IncomingMessage, response: ServerResponse, url: URL, key: string, body: Buffer): void {
    if (request.method === 'POST' && url.searchParams.has('uploads')) {
      const id = randomUUID()
      uploads.set(id, { key, parts: new Map(), begunMs: Date.now() })
      return void response.end(`<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`)
    }
    if (request.method === 'GET') {
      const found = [...uploads].map(
        ([id, one]) =>
          `<Upload><Key>${escapeXml(one.key)}</Key><UploadId>${id}</UploadId><Initiated>${new Date(one.begunMs).toISOString()}</Initiated></Upload>`,
      )
      return void response.end(`<ListMultipartUploadsResult>${found.join('')}</ListMultipartUploadsResult>`)
    }
    const id = url.searchParams.get('uploadId') as string
    const upload = uploads.get(id)
    if (upload?.key !== key) return void refuse(response, 404, 'NoSuchUpload')
    if (request.method === 'PUT') {
      if (request.headers['x-amz-checksum-crc32'] !== crcOf(body)) return void refuse(response, 400, 'BadDigest')
      upload.parts.set(Number(url.searchParams.get('partNumber')), body)
      return void response.writeHead(200, { etag: `"${sha256(body)}"` }).end()
    }
    uploads.delete(id)
    if (request.method === 'DELETE') return void response.writeHead(204).end()
    const named = [...body.toString().matchAll(/<PartNumber>(\d+)<\/PartNumber><ETag>&quot;(\w+)&quot;<\/ETag>/g)]
    const parts = named.map(([, number, etag]) => ({ bytes: upload.parts.get(Number(number)), etag }))
    if (parts.length === 0 || parts.some(({ bytes, etag }) => !bytes || sha256(bytes) !== etag))
      return void refuse(response, 400, 'InvalidPart')
    const bytes = Buffer.concat(parts.map((part) => part.bytes as Buffer))
    objects.set(key, { bytes, modifiedMs: Date.now(), checksum: `${crcOf(bytes)}-${parts.length}` })
    if (store.cutNext) {
      store.cutNext = false
      return void request.socket.destroy()
    }
    response.end('<CompleteMultipartUploadResult></CompleteMultipartUploadResult>')
  }

  function list(url: URL, response: ServerResponse): void {
    const prefix = url.searchParams.get('prefix') ?? ''
    const after = url.searchParams.get('continuation-token') ?? ''
    const keys = [...objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    const page = keys.slice(0, pageSize)
    const contents = page.map((key) => {
      const modified = new Date((objects.get(key) as { modifiedMs: number }).modifiedMs).toISOString()
      return `<Contents><Key>${escapeXml(key)}</Key><LastModified>${modified}</LastModified><Size>1</Size></Contents>`
    })
    const more = keys.length > pageSize ? `<NextContinuationToken>${escapeXml(page.at(-1) as string)}</NextContinuationToken>` : ''
    response.end(
      `<?xml version="1.0"?><ListBucketResult><Name>${bucket}</Name><IsTruncated>${keys.length > pageSize}</IsTruncated>${contents.join('')}${more}</ListBucketResult>`,
    )
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const store: S3Store = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    uploads,
    requests,
    faults,
    cutNext: false,
    beforeGet: null,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return store
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response
    .writeHead(status, { 'content-type': 'application/xml' })
    .end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>secret</Message></Error>`)
}
