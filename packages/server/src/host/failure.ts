// The failure of a host command, with a sentence for the operator.

/** A command failed, for the reason in the message. `isUsage` is true when its arguments are wrong. */
export class CommandFailed extends Error {
  override name = 'CommandFailed'
  readonly isUsage: boolean
  constructor(message: string, isUsage = false) {
    super(message)
    this.isUsage = isUsage
  }
}
