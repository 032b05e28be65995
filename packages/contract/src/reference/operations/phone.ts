// The reference of phone numbers and texts.
import type { OperationDetails } from '../operation-details.ts'
import { sampleId } from '../samples.ts'

const number = '+12125550123'
const text = sampleId('sms')

export const phoneDetails: Record<string, OperationDetails> = {
  provisionPhoneNumber: {
    description:
      'Buys a number from the provider of the server and gives it to an agent, which can have one. A real provider charges for it. The purchase is recorded before the provider is asked, so a repeated request with the same `Idempotency-Key` never buys twice. Texts arrive once `sms_status` is `ready`, which `number.sms_ready` reports. `409 no_numbers_available` means that the provider has none with these filters.',
    keys: 'organization',
    body: { agent_handle: 'sales', region: 'NY' },
    sdk: 'const number = await callsign.phone.provision($body)',
    cli: 'callsign phone provision sales --region NY',
  },
  listPhoneNumbers: {
    description: 'Returns phone numbers, newest first. An agent key gets a list with its own number.',
    query: { limit: 20 },
    sdk: 'const page = await callsign.phone.list($query)',
    cli: 'callsign phone list',
  },
  getPhoneNumber: {
    description: 'Returns one phone number, named by its id or by the number itself. `sms_error` says why a number cannot receive texts.',
    sdk: 'const number = await callsign.phone.get($id)',
    cli: `callsign phone show ${number}`,
  },
  releasePhoneNumber: {
    description:
      'Releases a number to its provider and deletes its texts. This cannot be undone: the provider may sell the number to another customer. Repeating the request with the id of the number succeeds.',
    keys: 'organization',
    reply: { id: sampleId('phoneNumber') },
    sdk: 'await callsign.phone.release($id)',
    cli: `callsign phone release ${number}`,
  },
  listSmsMessages: {
    description: 'Returns the texts that a number has received, newest first, with their codes and files.',
    query: { is_read: false, limit: 20 },
    sdk: 'const page = await callsign.phone.messages($id, $query)',
    cli: `callsign phone messages ${number} --unread`,
  },
  getSmsMessage: {
    description: 'Returns one text. `codes` has its one-time codes. The links in `media` are valid for one hour.',
    params: { message_id: text },
    sdk: 'const text = await callsign.phone.message($id, $message_id)',
    cli: `callsign phone read ${text} --number ${number}`,
  },
  updateSmsMessage: {
    description: 'Marks a text as read or unread. Lists filter by it with `is_read`.',
    params: { message_id: text },
    body: { is_read: true },
    reply: { is_read: true },
    sdk: 'const text = await callsign.phone.updateMessage($id, $message_id, $body)',
    cli: `callsign phone read ${text} --number ${number} --mark-read`,
  },
  waitForSms: {
    description:
      'Holds the request until a text arrives that passes every filter, for at most 60 seconds. Give `after` with the time before you caused the text, so that an early one is not missed. `message` is null if none arrives.',
    query: { timeout: 30, has_code: true },
    sdk: 'const { message } = await callsign.phone.wait($id, $query)',
    cli: `callsign phone wait ${number} --timeout 30 --code`,
  },
  sendSmsMessage: {
    description:
      'Numbers only receive texts. This operation is here so that the answer says so: it is always `405 sms_outbound_unavailable`.',
  },
  receivePhoneHook: {
    description:
      'Receives callbacks of a phone provider. Callsign registers this address at the provider. The signature of the provider is checked before the body is read, and a callback that is repeated is stored once. It is not for your own programs.',
    params: { provider: 'telnyx', route_token: 'p7kq2x9c7hfm4t8e5v3n6w1r' },
  },
}
