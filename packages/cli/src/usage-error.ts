// The error for a command line that cannot be run as it stands.

/** The command line itself is wrong: exit code 2. */
export class UsageError extends Error {}
