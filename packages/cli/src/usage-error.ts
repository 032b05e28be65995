// Errors of the command line itself.

/** The command line is not valid. The exit code is 2. */
export class UsageError extends Error {}

/** The named thing does not exist. The exit code is 4. */
export class NotFoundError extends Error {}
