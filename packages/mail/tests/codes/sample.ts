// One message of the collected set, with the codes and links that a reader finds in it.

/** `wants` are the codes and links that the message is about. Empty for a message with other numbers and links only. */
export type Sample = { subject?: string; text: string; wants: string[] }
