// Uploads large objects to an S3 store in parts, so that a broken connection repeats one part.
import type { Dispatcher } from 'undici'
import { nowMs } from '../../core/clock.ts'
import { element, elements, failureOf, type S3Call, S3Failure, textOf } from './s3-answers.ts'
import { checksumHeader } from './s3-checksum.ts'

/** Larger objects are uploaded in parts of this size. S3 allows parts from 5 MiB. */
export const partBytes = 8 * 1024 * 1024
const partsTogether = 4

/** An upload takes minutes, so one that is this old belongs to a process that died. Its parts cost money and are not listed. */
const abandonedMs = 24 * 60 * 60 * 1000

type Call = (call: S3Call) => Promise<Dispatcher.ResponseData>

export type Multipart = {
  /** Uploads an object. It becomes visible as a whole. */
  put(key: string, bytes: Buffer): Promise<void>
  /** Ends the abandoned uploads under the prefix. */
  sweep(): Promise<void>
}

export function createMultipart(call: Call, prefix: string): Multipart {
  async function begin(key: string): Promise<string> {
    const answer = await call({ method: 'POST', key, query: { uploads: '' }, headers: { 'x-amz-checksum-algorithm': 'CRC32' } })
    const uploadId = answer.statusCode === 200 ? element(await textOf(answer), 'UploadId') : undefined
    if (uploadId === undefined) throw await failureOf('CreateMultipartUpload', answer)
    return uploadId
  }

  async function putPart(key: string, uploadId: string, number: number, bytes: Buffer): Promise<string> {
    const query = { partNumber: String(number), uploadId }
    const headers = checksumHeader(bytes)
    const answer = await call({ method: 'PUT', key, query, headers, body: bytes })
    const { etag } = answer.headers
    if (answer.statusCode !== 200 || typeof etag !== 'string') throw await failureOf('UploadPart', answer)
    await answer.body.dump()
    const sum = headers['x-amz-checksum-crc32']
    return `<Part><PartNumber>${number}</PartNumber><ETag>${etag.replaceAll('"', '&quot;')}</ETag><ChecksumCRC32>${sum}</ChecksumCRC32></Part>`
  }

  async function complete(key: string, uploadId: string, parts: string[], size: number): Promise<void> {
    const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
    const answer = await call({ method: 'POST', key, query: { uploadId }, headers: { 'content-type': 'application/xml' }, body })
    if (answer.statusCode !== 200) {
      const failure = await failureOf('CompleteMultipartUpload', answer)
      // The answer to an earlier attempt may have been lost.
      if (failure instanceof S3Failure && failure.code === 'NoSuchUpload' && (await sizeOf(key)) === size) return
      throw failure
    }
    // The status is sent before the parts are put together, so a failure may follow in the body.
    const text = await textOf(answer)
    if (!text.includes('CompleteMultipartUploadResult'))
      throw new Error(`S3 CompleteMultipartUpload failed: ${element(text, 'Code') ?? 'unknown'}`)
  }

  async function sizeOf(key: string): Promise<number | null> {
    const answer = await call({ method: 'HEAD', key })
    await answer.body.dump()
    return answer.statusCode === 200 ? Number(answer.headers['content-length']) : null
  }

  const abort = async (key: string, uploadId: string): Promise<void> => {
    const answer = await call({ method: 'DELETE', key, query: { uploadId } })
    await answer.body.dump()
  }

  return {
    async put(key, bytes) {
      const uploadId = await begin(key)
      try {
        const parts: string[] = []
        let next = 0
        const upload = async () => {
          for (let index = next++; index * partBytes < bytes.length; index = next++)
            parts[index] = await putPart(key, uploadId, index + 1, bytes.subarray(index * partBytes, (index + 1) * partBytes))
        }
        await Promise.all(Array.from({ length: partsTogether }, upload))
        await complete(key, uploadId, parts, bytes.length)
      } catch (error) {
        // A failure here is left to the sweep.
        await abort(key, uploadId).catch(() => {})
        throw error
      }
    },

    async sweep() {
      const answer = await call({ method: 'GET', key: '', query: { uploads: '', prefix } })
      if (answer.statusCode !== 200) throw await failureOf('ListMultipartUploads', answer)
      for (const upload of elements(await textOf(answer), 'Upload')) {
        const [key, uploadId, begunAt] = ['Key', 'UploadId', 'Initiated'].map((name) => element(upload, name))
        if (key?.startsWith(prefix) && uploadId !== undefined && Date.parse(begunAt ?? '') < nowMs() - abandonedMs)
          await abort(key.slice(prefix.length), uploadId)
      }
    },
  }
}
