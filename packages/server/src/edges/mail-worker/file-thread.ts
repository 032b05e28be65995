// The thread that reads the text of attachments, and reports. It has no sockets.
import { parentPort } from 'node:worker_threads'
import { readFile } from './formats/read-file.ts'
import { Unreadable } from './formats/unreadable.ts'
import type { FileResult, FileTask, FromThread, ToThread } from './protocol.ts'
import { readReport } from './reports/read-report.ts'

const port = parentPort
if (!port) throw new Error('this file is a worker thread')

const say = (message: FromThread<FileResult>): void => port.postMessage(message)

// A parser that failed for one file may reject further promises of it later.
process.on('unhandledRejection', () => {})

async function perform(task: FileTask): Promise<FileResult> {
  const bytes = Buffer.from(task.bytes)
  try {
    return await (task.kind === 'report' ? readReport(bytes) : readFile({ ...task, bytes }))
  } catch (error) {
    if (error instanceof Unreadable) return { failure: error.failure }
    // A stack that is full comes from nesting. Any other error of a parser is that of a damaged file.
    return { failure: error instanceof RangeError && !('code' in error) ? 'too_complex' : 'damaged' }
  }
}

port.on('message', (message: ToThread<FileTask>) => {
  if (message.what === 'end') port.close()
  else if (message.what === 'task') void perform(message.task).then((result) => say({ what: 'done', id: message.id, result }))
})
