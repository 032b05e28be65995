// Stored mail of all mailboxes: the only door to how it is stored, threaded, counted, partitioned and found.

// Filing: places messages in threads and writes all their rows in the caller's transaction. The threads are looked up first, so that rules can judge by them.
export { addToCounts } from './filing/count-store.ts'
// Delivery: the recipients of sent messages, and what became of each.
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
// Lists of messages, newest first, one keyset page each.
export { type MessageFilter, type MessageOwner, toConditions } from './lists/filter-conditions-store.ts'
export { countByScope, countByThread, findMailPage, type ListScope, listByThread, type MailPage } from './lists/list-store.ts'
export { findNewest } from './lists/newest-store.ts'
// Threads, and the trash.
export {
  findFacts,
  findThread,
  listThreads,
  type OwnerScope,
  type ThreadFilter,
} from './lists/thread-list-store.ts'
// Messages by their ids, and changes of them.
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
// Search.
export { search, searchThreads } from './search/search.ts'
export { markAll, markPieces, toFieldQuery } from './search/search-query.ts'
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
