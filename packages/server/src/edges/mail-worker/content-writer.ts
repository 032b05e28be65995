// Converts contents of messages. Large ones go to worker threads, where organizations take turns.
import { availableParallelism } from 'node:os'
import { shareThread } from '../../core/turn.ts'
import type { ContentWriter } from '../../features/mail/messages/provider.ts'
import { convert, toBuffer } from './content-work.ts'
import type { ContentResult, ContentResults, ContentTask } from './protocol.ts'
import { rethrowAsBusy } from './thread-failure.ts'
import { createThreadPool } from './thread-pool.ts'

/** Contents up to this size are converted on the main thread: below it, the worst takes a few milliseconds. */
const smallBytesMax = 64 * 1024
const heapMegabytesMax = 1024

/** Creates a writer. Its threads start with the first large content. */
export function createContentWriter(
  settings: { threadsMax?: number; taskMsMax?: number; tasksPerOwnerMax?: number } = {},
): ContentWriter & { close: () => Promise<void> } {
  const { taskMsMax = 60_000 } = settings
  const threadsMax = settings.threadsMax ?? Math.max(2, Math.min(4, availableParallelism() - 1))
  const pool = createThreadPool<ContentTask, ContentResult>({
    file: new URL('./content-thread.ts', import.meta.url),
    threadsMax,
    tasksPerThreadMax: 1,
    triesMax: 2,
    taskMsMax,
    idleMs: 60_000,
    heapMegabytesMax,
    // Conversions are linear in contents of at most 25 MB, so a fair share ends them only where a machine is too slow for all.
    turns: { runningPerOwnerMax: Math.max(1, threadsMax - 1), ownerMsMax: 20_000, taskMsMin: 10_000 },
    open: { perOwnerMax: settings.tasksPerOwnerMax ?? 100 },
  })

  async function perform<Kind extends ContentTask['kind']>(
    owner: string,
    size: number,
    task: Extract<ContentTask, { kind: Kind }>,
  ): Promise<ContentResults[Kind]> {
    if (size <= smallBytesMax) return (await shareThread(owner, () => convert(task))) as ContentResults[Kind]
    return pool.perform<ContentResults[Kind]>(owner, () => task).catch(rethrowAsBusy)
  }

  return {
    toText: (owner, html) => perform(owner, html.length, { kind: 'text', html }),
    toReview: (owner, html) => perform(owner, html.length, { kind: 'review', html }),
    toForward: (owner, source) =>
      perform(owner, source.text.length + source.html.length + source.introText.length + source.introHtml.length, {
        kind: 'forward',
        source,
      }),
    toPage: async (owner, message) => toBuffer(await perform(owner, message.html.length + message.text.length, { kind: 'page', message })),
    async compose(owner, draft, keys) {
      const files = draft.attachments ?? []
      const own = draft.content?.body.length ?? (draft.text ?? '').length + (draft.html ?? '').length
      const size = files.reduce((sum, { bytes }) => sum + bytes.length, own)
      return toBuffer(await perform(owner, size, { kind: 'compose', draft, keys }))
    },
    close: pool.close,
  }
}
