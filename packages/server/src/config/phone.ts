// Settings of phone numbers and their suppliers.
import { area, setting } from './setting.ts'
import { decimal, integer, oneOf, url } from './values.ts'

export const phone = area({
  title: 'Phone numbers',
  settings: {
    phoneProvider: setting({
      name: 'CALLSIGN_PHONE_PROVIDER',
      fallback: 'simulator',
      sentence: 'Supplier of new phone numbers, one of simulator (numbers that cannot be dialed), telnyx and twilio.',
      read: oneOf('simulator', 'telnyx', 'twilio'),
    }),
    telnyxApiKey: setting({
      name: 'CALLSIGN_TELNYX_API_KEY',
      fallback: null,
      sentence: 'A Telnyx API v2 key.',
      secret: true,
      read: (text) => text.trim(),
    }),
    telnyxPublicKey: setting({
      name: 'CALLSIGN_TELNYX_PUBLIC_KEY',
      fallback: null,
      sentence: "Public key that verifies the signatures of the account's callbacks, 32 bytes in base64.",
      read: (text) => {
        if (Buffer.from(text, 'base64').length !== 32) throw new Error('must be 32 bytes in base64, as Mission Control shows them')
        return text
      },
    }),
    telnyxMessagingProfileId: setting({
      name: 'CALLSIGN_TELNYX_MESSAGING_PROFILE_ID',
      fallback: null,
      sentence: "A messaging profile for Callsign alone. Callsign sets the profile's callback address to its own.",
      read: (text) => text.trim(),
    }),
    telnyxApiUrl: setting({
      name: 'CALLSIGN_TELNYX_API_URL',
      fallback: 'https://api.telnyx.com',
      sentence: 'Address of the Telnyx API.',
      read: url('http:', 'https:'),
    }),
    twilioAccountSid: setting({
      name: 'CALLSIGN_TWILIO_ACCOUNT_SID',
      fallback: null,
      sentence: 'SID of the Twilio account.',
      read: (text) => {
        if (!/^AC[0-9a-f]{32}$/i.test(text)) throw new Error('must be AC and 32 hexadecimal digits')
        return text
      },
    }),
    twilioAuthToken: setting({
      name: 'CALLSIGN_TWILIO_AUTH_TOKEN',
      fallback: null,
      sentence: 'Auth token of that account. An API key cannot replace it, because Twilio signs callbacks with this token.',
      secret: true,
      read: (text) => text.trim(),
    }),
    twilioApiUrl: setting({
      name: 'CALLSIGN_TWILIO_API_URL',
      fallback: 'https://api.twilio.com',
      sentence: 'Address of the Twilio API.',
      read: url('http:', 'https:'),
    }),
    phonePollSeconds: setting({
      name: 'CALLSIGN_PHONE_POLL_SECONDS',
      fallback: '5',
      sentence: 'Seconds between polls of the phone provider for the status of an order or a pending number.',
      read: decimal(0.02, 3600),
    }),
    phoneCatchUpSeconds: setting({
      name: 'CALLSIGN_PHONE_CATCH_UP_SECONDS',
      fallback: '300',
      sentence: 'Seconds between reads of the list of inbound texts, which finds texts without a callback. The first read is at the start.',
      read: decimal(0.05, 86_400),
    }),
    simSmsReadyMs: setting({
      name: 'CALLSIGN_SIM_SMS_READY_MS',
      fallback: '3000',
      sentence: 'Milliseconds that a simulated phone number stays pending.',
      read: integer(0, 86_400_000),
    }),
  },
  check({ phoneProvider, telnyxApiKey, telnyxPublicKey, telnyxMessagingProfileId, twilioAccountSid, twilioAuthToken }) {
    if (phoneProvider === 'telnyx' && !(telnyxApiKey && telnyxPublicKey && telnyxMessagingProfileId))
      return 'CALLSIGN_PHONE_PROVIDER=telnyx needs CALLSIGN_TELNYX_API_KEY, CALLSIGN_TELNYX_PUBLIC_KEY and CALLSIGN_TELNYX_MESSAGING_PROFILE_ID'
    if (phoneProvider === 'twilio' && !(twilioAccountSid && twilioAuthToken))
      return 'CALLSIGN_PHONE_PROVIDER=twilio needs CALLSIGN_TWILIO_ACCOUNT_SID and CALLSIGN_TWILIO_AUTH_TOKEN'
    return null
  },
})
