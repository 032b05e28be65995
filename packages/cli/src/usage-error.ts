// The error for a command line that is not valid.

/** The command line is not valid. The exit code is 2. */
export class UsageError extends Error {}
