// How a host command fails: with a sentence for the operator.

/** A command that could not be done, in words. `isUsage` when it was called wrongly. */
export class CommandFailed extends Error {
  override name = 'CommandFailed'
  readonly isUsage: boolean
  constructor(message: string, isUsage = false) {
    super(message)
    this.isUsage = isUsage
  }
}
