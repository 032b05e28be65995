// Reasons for enhanced status codes (RFC 3463 §3, RFC 7505), for reports without words of their own.

const reasons: Record<string, string> = {
  '1.1': 'The mailbox does not exist.',
  '1.2': 'The domain does not exist, or takes no mail.',
  '1.3': 'The syntax of the address is invalid.',
  '1.4': 'The address is ambiguous.',
  '1.6': 'The mailbox has moved without a forwarding address.',
  '1.7': "The syntax of the sender's address is invalid.",
  '1.8': "The sender's domain does not exist.",
  '1.10': 'The domain takes no mail (null MX).',
  '2.0': 'The mailbox took no mail.',
  '2.1': 'The mailbox is disabled.',
  '2.2': 'The mailbox is full.',
  '2.3': 'The message is larger than the mailbox allows.',
  '2.4': 'The mailing list could not be expanded.',
  '3.0': 'The mail system of the recipient failed.',
  '3.1': 'The mail system of the recipient is full.',
  '3.2': 'The mail system of the recipient takes no mail at the moment.',
  '3.4': 'The message is larger than the mail system allows.',
  '4.0': 'The next server could not be reached.',
  '4.1': 'The next server did not answer.',
  '4.2': 'The connection to the next server was lost.',
  '4.3': 'The lookup of the next server failed.',
  '4.4': 'No server was found for the domain.',
  '4.6': 'The message went in a loop.',
  '4.7': 'The message could not be delivered in time.',
  '6.0': 'The content of the message could not be handled.',
  '7.1': 'The message was refused by a policy.',
}

/** The reason that a status code stands for, without its class. Null for unknown and general codes. */
export const reasonOfStatus = (status: string | null): string | null => (status === null ? null : (reasons[status.slice(2)] ?? null))
