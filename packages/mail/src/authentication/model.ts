// Who sent a message: SPF, DKIM, ARC and DMARC, each by its RFC, with DNS asked through a resolver that is handed in.
export { type ArcResult, validateChain } from './arc/arc-chain.ts'
export { openMessage } from './dkim/message-fields.ts'
export { prepareMessage, type SignatureResult, verifySignatures } from './dkim/verification.ts'
export { type DmarcResult, evaluateDmarc, findPolicy } from './dmarc/dmarc.ts'
export { limitQuestions } from './dns-questions.ts'
export { normalName } from './domain-names.ts'
export { checkHost, type SpfResult } from './spf/spf.ts'
