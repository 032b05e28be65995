// The thread that searches composed messages for secrets. It has no sockets.
import { parentPort } from 'node:worker_threads'
import { searchForSecrets } from '@callsign/mail/content/secrets/message-search'
import type { FromThread, SecretResult, SecretTask, ToThread } from './protocol.ts'

const port = parentPort
if (!port) throw new Error('this file is a worker thread')

const say = (message: FromThread<SecretResult>): void => port.postMessage(message)

function perform({ patterns, fields, files, bytes }: SecretTask): SecretResult {
  const all = Buffer.from(bytes)
  return searchForSecrets({
    patterns,
    fields,
    files: files.map(({ start, end, ...file }) => ({ ...file, bytes: all.subarray(start, end) })),
  })
}

port.on('message', (message: ToThread<SecretTask>) => {
  if (message.what === 'end') port.close()
  if (message.what !== 'task') return
  const { id } = message
  try {
    say({ what: 'done', id, result: perform(message.task) })
  } catch (error) {
    say({ what: 'failed', id, reason: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
})
