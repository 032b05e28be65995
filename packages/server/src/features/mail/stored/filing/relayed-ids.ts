// Message-IDs of a relay that replaces the one of a message, as Amazon SES does. Its answer has the part before the @.

/** The shortest id that counts. Shorter ones are queue numbers, which other senders could guess. */
const charactersMin = 32
const charactersMax = 200
const idsMax = 3

/** The references to record for the ids in an answer, such as `250 Ok 0100018f0c2d3e4f-1a2b3c4d-5e6f-7081-92a3-b4c5d6e7f809-000000`. */
export const relayedIdsIn = (answer: string): string[] =>
  answer.startsWith('250')
    ? answer
        .split(/\s+/)
        .flatMap((word) => relayedIdOf(word) ?? [])
        .slice(0, idsMax)
    : []

/** The reference to look up for a Message-ID with this id of a relay. The domain does not count, because only recipients see it. Null for other ids. */
export function relayedIdOf(messageId: string): string | null {
  const id = /^<?([\w.-]+)(?:@[^\s<>@]+)?>?$/.exec(messageId)?.[1]
  const isLong = id !== undefined && id.length >= charactersMin && id.length <= charactersMax
  // No Message-ID, because they have brackets.
  return isLong && /\d/.test(id) ? `relay:${id}` : null
}
