// The thread that converts large contents. It has no sockets.
import { parentPort } from 'node:worker_threads'
import { convert } from './content-work.ts'
import type { ContentResult, ContentTask, FromThread, ToThread } from './protocol.ts'

const port = parentPort
if (!port) throw new Error('this file is a worker thread')

const say = (message: FromThread<ContentResult>): void => port.postMessage(message)

port.on('message', (message: ToThread<ContentTask>) => {
  if (message.what === 'end') port.close()
  else if (message.what === 'task')
    convert(message.task).then(
      (result) => say({ what: 'done', id: message.id, result }),
      (error: unknown) =>
        say({ what: 'failed', id: message.id, reason: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    )
})
