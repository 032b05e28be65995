// The thread that searches composed messages for secrets, and checks the patterns for it. It has no sockets.
import { parentPort } from 'node:worker_threads'
import { searchForSecrets } from '@callsign/mail/content/secrets/message-search'
import { findPatternProblem } from '@callsign/mail/content/secrets/patterns'
import type { FromThread, SecretResult, SecretTask, ToThread } from './protocol.ts'

const port = parentPort
if (!port) throw new Error('this file is a worker thread')

const say = (message: FromThread<SecretResult>): void => port.postMessage(message)

function perform(task: SecretTask): SecretResult {
  if (task.kind === 'patterns') return findPatternProblem(task.patterns)
  const { patterns, fields, files, bytes } = task
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
