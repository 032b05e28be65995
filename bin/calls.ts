// The calls of the client libraries, taken from the operations and the names that the SDK examples of the reference give them.
import type { Operation } from '../packages/contract/src/operation.ts'
import { operationDetails } from '../packages/contract/src/reference/details.ts'

/** Operations without a method of their own, with the reason. */
export const omitted: Record<string, string> = {
  downloadAttachment: 'the address is in `url` of the attachment',
  sendSmsMessage: 'the API answers 405',
  receivePhoneHook: 'phone providers call it',
  receiveImessageCallback: 'iMessage providers call it',
  streamEvents: 'events.follow reads the stream',
}

export type Call = {
  operation: Operation
  /** The attribute of the client, such as `mailRules`. Empty for a method of the client itself. */
  resource: string
  name: string
  about: string
  /** The result that is not JSON. */
  media: 'text' | 'bytes' | null
  /** True if the result is the field `data` of the reply. */
  isUnwrapped: boolean
}

const isVault = ({ path }: Operation): boolean => path.startsWith('/api/v1/vault')

export const callsOf = (operations: readonly Operation[], vaultResource: string): Call[] =>
  operations.filter(({ id }) => !(id in omitted)).map((operation) => callOf(operation, vaultResource))

function callOf(operation: Operation, vaultResource: string): Call {
  const sdk = operationDetails[operation.id]?.sdk ?? ''
  const fields = Object.keys((operation.reply as { properties?: object } | undefined)?.properties ?? {})
  return {
    operation,
    ...(isVault(operation) ? { resource: vaultResource, name: operation.id } : nameOf(operation, sdk)),
    about: operationDetails[operation.id]?.description ?? operation.summary,
    media: operation.media ? (operation.media.startsWith('text/') ? 'text' : 'bytes') : null,
    isUnwrapped: fields.join() === 'data' && !isVault(operation) && !sdk.includes('{ data }'),
  }
}

/** The resource and the method of `callsign.mailRules.list(…)`. Throws when the reference has no such example. */
function nameOf(operation: Operation, sdk: string): { resource: string; name: string } {
  const call = /callsign\.(?:(\w+)\.)?(\w+)\(/.exec(sdk)
  if (!call) throw new Error(`the reference of ${operation.id} has no SDK example: add one, or a reason to bin/calls.ts`)
  return { resource: call[1] ?? '', name: call[2] as string }
}
