// The only interface of stored mail: filing, deliveries, lists, search, threads and the trash. No other file knows how messages are stored, threaded,
// partitioned and found.

export { addToCounts } from './filing/count-store.ts'
export {
  countReceived,
  createFindRecipients,
  type DeliveryChange,
  type Exchange,
  type Exchanged,
  findExchange,
  findRecipients,
  lockRecipients,
  updateDeliveries,
} from './filing/delivery-store.ts'
export { type Filed, type Filing, fileMessages, fileReleased, findThreads, learnRelayedIds } from './filing/filing.ts'
export type { NewRaw } from './filing/filing-store.ts'
export { findParticipants } from './filing/participants.ts'
export { deleteUnusedRaw, findNamedBlobs, findRaw, keepRaw } from './filing/raw-store.ts'
export { findReferences } from './filing/reference-store.ts'
export { answeredThreads, type KnownThreads } from './filing/threading.ts'
export { type MessageFilter, type MessageOwner, toConditions } from './lists/filter-conditions-store.ts'
export { countByScope, countByThread, findMailPage, type ListScope, listByThread, type MailPage } from './lists/list-store.ts'
export { findNewest } from './lists/newest-store.ts'
export {
  findFacts,
  findThread,
  listThreads,
  type OwnerScope,
  type ThreadFilter,
} from './lists/thread-list-store.ts'
export {
  type ChangedMessage,
  type ChangeScope,
  deleteAll,
  findBodySizes,
  findCutMessages,
  findHeads,
  findListed,
  findMessages,
  hasAutomaticAnswer,
  isDeleted,
  lockAutomaticAnswers,
  releaseMessage,
  updateFlags,
} from './message-store.ts'
export { search, searchThreads } from './search/search.ts'
export { exactly, markAll, markPieces, toFieldQuery } from './search/search-query.ts'
export { inSearchSlot } from './search/search-slots.ts'
export { findJoined, findMetadata, setThreadMetadata } from './thread-store.ts'
export {
  deleteMessages,
  type Expired,
  findThreadsOf,
  insertDeletedThread,
  isThreadDeleted,
  type LockedThread,
  listExpired,
  listTrashed,
  lockForDeletion,
  lockMessage,
  lockThread,
  type MovedMessage,
  setFolder,
  setThreadLabels,
  setThreadRead,
  setTrashed,
} from './trash-store.ts'
