// Simulated iMessage: accepted messages, files of simulated phones, and injected faults.
import { now } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import type { Database, Sql } from '../../core/sql.ts'
import type { Attachments } from '../mail/attachments/operations.ts'
import { cleanFilename } from './model.ts'
import type { MediaRef, Piece } from './provider.ts'
import type { Filed } from './receiving.ts'
import { findFirstOrganization } from './sending-store.ts'
import { findSimulated, insertSimulated } from './simulated-store.ts'

/** The faults and the outbox of the simulator. */
export interface SimulatedPhones {
  /** Takes the fault set for one call, or null. A fault happens once. */
  takeFault(organizationId: string, channel: 'imessage', op: string): Promise<string | null>
  /** Adds an item to the outbox. Idempotent by id. */
  record(
    sql: Sql,
    organizationId: string,
    item: { id: string; channel: 'imessage'; from: string; to: string; text: string; mediaUrl: string | null },
  ): Promise<void>
}

/** A file that a simulated phone sends. */
export type SimulatedFile = { contentType: string; bytes: Buffer }

/** A message from a simulated phone. */
type Written = { providerMessageId: string; sender: string; text: string; media: MediaRef[]; sentAt: Date }

type Call = (message: Written) => Promise<{ filed: Filed[] }>

export function createSimulation({
  db,
  attachments,
  simulatorState,
}: {
  db: Database
  attachments: Attachments
  simulatorState: SimulatedPhones
}) {
  /** Stores a file of a simulated phone. Large files are in the blob store until they are fetched, and are swept afterwards. */
  async function keep(organizationId: string, { contentType, bytes }: SimulatedFile, i: number): Promise<MediaRef> {
    const { blob_key } = await attachments.keepBytes(organizationId, newId('attachment'), bytes)
    const ref = blob_key === null ? `base64:${bytes.toString('base64')}` : `blob:${blob_key}`
    return { ref, filename: cleanFilename(`file-${i + 1}.${contentType.split('/')[1] ?? 'bin'}`, 'file'), contentType }
  }

  return {
    memory: {
      /** Accepts a piece. Repeated pieces are accepted repeatedly, as a phone would receive them. */
      async take(piece: Piece): Promise<string> {
        const id = newId('simulated')
        await db.transact(async (tx) => {
          await insertSimulated(tx, { id, send_key: piece.key, recipient: piece.recipient, created_at: now() })
          const mediaUrl = piece.media && attachments.linkTo(piece.media.id)
          const item = { id, channel: 'imessage' as const, from: piece.line, to: piece.recipient, text: piece.text ?? '', mediaUrl }
          await simulatorState.record(tx, piece.organizationId ?? (await findFirstOrganization(tx)), item)
        })
        return id
      },
      findTaken: (key: string) => findSimulated(db, key),
      readFile: (ref: string): Promise<Buffer | null> => {
        if (ref.startsWith('base64:')) return Promise.resolve(Buffer.from(ref.slice(7), 'base64'))
        return attachments.readFile({ bytes: null, blob_key: ref.slice('blob:'.length) }).catch(() => null)
      },
    },

    /** Takes the fault set for the next send of an organization, or null. */
    nextSendFault: async (organizationId: string | null) =>
      organizationId === null
        ? null
        : ((await simulatorState.takeFault(organizationId, 'imessage', 'send')) as 'error' | 'timeout' | 'lost_answer' | null),

    /** Delivers the message of a simulated phone through the callback that `call` makes, unless a fault prevents it. */
    deliverer(call: Call) {
      const held = new Map<string, Written[]>()
      return async (
        organizationId: string,
        from: string,
        text: string,
        files: SimulatedFile[],
      ): Promise<{ id: string; filed: Filed | null }> => {
        const id = newId('simulated')
        const media = await Promise.all(files.map((file, i) => keep(organizationId, file, i)))
        const message = { providerMessageId: id, sender: from, text, media, sentAt: now() }
        const fault = await simulatorState.takeFault(organizationId, 'imessage', 'webhook')
        if (fault === 'reorder') held.set(organizationId, [...(held.get(organizationId) ?? []), message])
        if (fault === 'reorder' || fault === 'drop') return { id, filed: null }
        const { filed } = await call(message)
        if (fault === 'duplicate') await call(message)
        const late = held.get(organizationId) ?? []
        held.delete(organizationId)
        for (const one of late) await call(one)
        return { id, filed: filed[0] ?? null }
      }
    },
  }
}
