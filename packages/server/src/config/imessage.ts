// Settings of iMessage and its providers.
import { area, setting } from './setting.ts'
import { decimal, e164, isPrivateHost, oneOf, secondsList, signingSecret, url } from './values.ts'

export const imessage = area({
  title: 'iMessage',
  settings: {
    imessageProvider: setting({
      name: 'CALLSIGN_IMESSAGE_PROVIDER',
      fallback: 'simulator',
      sentence: 'iMessage provider, one of simulator (simulated phones), bluebubbles (a Mac of yours) and linq. See docs/operating.md.',
      read: oneOf('simulator', 'bluebubbles', 'linq'),
    }),
    imessageLine: setting({
      name: 'CALLSIGN_IMESSAGE_LINE',
      fallback: null,
      shown: '(simulator: +18005550199; linq: the first of the account)',
      sentence: 'Number of the router line, E.164. Required for BlueBubbles, where it is the number of the Mac.',
      read: e164,
    }),
    imessageDisplayName: setting({
      name: 'CALLSIGN_IMESSAGE_DISPLAY_NAME',
      fallback: 'Callsign',
      sentence: 'Display name of the router line.',
      read: (text) => {
        if (text.length > 100) throw new Error('must have at most 100 characters')
        return text
      },
    }),
    imessageAllowCold: setting({
      name: 'CALLSIGN_IMESSAGE_ALLOW_COLD',
      fallback: 'false',
      sentence: '`true` lets agents write to numbers that never connected to them.',
      read: (text) => oneOf('true', 'false')(text) === 'true',
    }),
    imessagePollSeconds: setting({
      name: 'CALLSIGN_IMESSAGE_POLL_SECONDS',
      fallback: null,
      shown: '20 (bluebubbles), 300 (linq)',
      sentence: 'Seconds between polls of the provider for messages whose callbacks were lost.',
      read: decimal(0.05, 3600),
    }),
    imessageRetrySeconds: setting({
      name: 'CALLSIGN_IMESSAGE_RETRY_SECONDS',
      fallback: '2,10,30,120,600,1800,3600,7200,14400,28800',
      shown: '2 s, 10 s, 30 s, 2 m, 10 m, 30 m, 1 h, 2 h, 4 h, 8 h',
      sentence: 'Delays in seconds between attempts to pass a message to the provider. The message fails after the last attempt.',
      read: secondsList,
    }),
    blueBubblesUrl: setting({
      name: 'CALLSIGN_BLUEBUBBLES_URL',
      fallback: null,
      sentence:
        'Address of the BlueBubbles server. Plain http:// is limited to private addresses, because every request carries the password.',
      read: url('http:', 'https:'),
    }),
    blueBubblesPassword: setting({
      name: 'CALLSIGN_BLUEBUBBLES_PASSWORD',
      fallback: null,
      sentence: 'Password of that server.',
      secret: true,
      read: (text) => text,
    }),
    blueBubblesMethod: setting({
      name: 'CALLSIGN_BLUEBUBBLES_METHOD',
      fallback: 'apple-script',
      sentence: "Send method of the Mac, apple-script, or private-api if BlueBubbles' Private API is set up.",
      read: oneOf('apple-script', 'private-api'),
    }),
    blueBubblesSettleSeconds: setting({
      name: 'CALLSIGN_BLUEBUBBLES_SEND_TIMEOUT_SECONDS',
      fallback: '150,1230',
      sentence:
        "Seconds, for a text and for a file, in which the Mac may still complete a send without a response. After that, a message missing from the Mac's list is sent again.",
      read: (text) => {
        const [textSeconds, fileSeconds, ...more] = secondsList(text)
        if (textSeconds === undefined || fileSeconds === undefined || more.length > 0)
          throw new Error('must be two numbers of seconds such as 150,1230')
        return { text: textSeconds * 1000, file: fileSeconds * 1000 }
      },
    }),
    linqApiKey: setting({
      name: 'CALLSIGN_LINQ_API_KEY',
      fallback: null,
      sentence: 'API key of the Linq account.',
      secret: true,
      read: (text) => text.trim(),
    }),
    linqWebhookSecret: setting({
      name: 'CALLSIGN_LINQ_WEBHOOK_SECRET',
      fallback: null,
      sentence: 'Signing secret of the Linq webhook subscription, whsec_…. Without it, inbound messages are found by polling alone.',
      secret: true,
      read: signingSecret,
    }),
    linqUrl: setting({
      name: 'CALLSIGN_LINQ_URL',
      fallback: 'https://api.linqapp.com/api/partner',
      sentence: 'Address of the Linq API.',
      read: url('http:', 'https:'),
    }),
  },
  check({ imessageProvider, imessageLine, blueBubblesUrl, blueBubblesPassword, linqApiKey }) {
    if (imessageProvider === 'bluebubbles') {
      if (!blueBubblesUrl || !blueBubblesPassword || !imessageLine)
        return 'CALLSIGN_IMESSAGE_PROVIDER=bluebubbles needs CALLSIGN_BLUEBUBBLES_URL, CALLSIGN_BLUEBUBBLES_PASSWORD and CALLSIGN_IMESSAGE_LINE'
      if (blueBubblesUrl.startsWith('http:') && !isPrivateHost(new URL(blueBubblesUrl).hostname))
        return 'CALLSIGN_BLUEBUBBLES_URL may use http:// only for localhost or a private address: use https:// or a VPN'
    }
    if (imessageProvider === 'linq' && !linqApiKey) return 'CALLSIGN_IMESSAGE_PROVIDER=linq needs CALLSIGN_LINQ_API_KEY'
    return null
  },
})
