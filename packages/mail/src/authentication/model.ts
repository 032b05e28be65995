// Who sent a message: SPF, DKIM, ARC and DMARC, each by its RFC, with DNS asked through a resolver that is handed in.
export { type ArcResult, validateChain } from './arc-chain.ts'
export { type DmarcResult, evaluateDmarc, findPolicy } from './dmarc.ts'
export { normalName } from './domain-names.ts'
export { openMessage } from './message-fields.ts'
export { limitQuestions } from './questions.ts'
export { prepareMessage, type SignatureResult, verifySignatures } from './signature.ts'
export { checkHost, type SpfResult } from './spf.ts'
