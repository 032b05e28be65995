// One message of the collected set: what a reader would find in it.

/** `wants`: every code and link that the message asks for; none when it is a message with other numbers and links. */
export type Sample = { subject?: string; text: string; wants: string[] }
