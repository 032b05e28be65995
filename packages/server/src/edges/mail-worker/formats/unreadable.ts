// The error of a file that has no readable text.
import type { FileFailure } from '../../../features/mail/attachments/provider.ts'

export class Unreadable extends Error {
  readonly failure: Exclude<FileFailure, 'busy'>

  constructor(failure: Exclude<FileFailure, 'busy'>, message: string) {
    super(message)
    this.failure = failure
  }
}
