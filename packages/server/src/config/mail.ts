// Settings of mailboxes and outbound mail.
import { area, setting } from './setting.ts'
import { domainName, integer, oneOf, secondsList, sendingLimits, url } from './values.ts'

export const mail = area({
  title: 'Mail',
  settings: {
    mailDomain: setting({
      name: 'CALLSIGN_MAIL_DOMAIN',
      fallback: 'agents.localhost',
      sentence: 'Domain of the mailboxes, <handle>@ this domain.',
      read: domainName,
    }),
    mailTransport: setting({
      name: 'CALLSIGN_MAIL_TRANSPORT',
      fallback: 'simulator',
      sentence:
        "Transport for outbound mail. `simulator` records it and opens no connection. `relay` sends it to CALLSIGN_SMTP_RELAY_URL. `direct` sends it to the recipients' mail servers. Mail between hosted agents is always delivered.",
      read: oneOf('simulator', 'relay', 'direct'),
    }),
    smtpRelayUrl: setting({
      name: 'CALLSIGN_SMTP_RELAY_URL',
      fallback: null,
      sentence: 'URL of the relay, smtp://[user:password@]host:port, or smtps:// for TLS from the first byte.',
      secret: true,
      read: url('smtp:', 'smtps:'),
    }),
    directPort: setting({
      name: 'CALLSIGN_MAIL_DIRECT_PORT',
      fallback: '25',
      sentence:
        'Destination port of direct delivery. Mail servers on the Internet listen on 25. Other ports are for tests and closed networks.',
      read: integer(1, 65535),
    }),
    mailRetrySeconds: setting({
      name: 'CALLSIGN_MAIL_RETRY_SECONDS',
      fallback: '60,300,900,1800,3600,7200,14400,14400,14400,14400,14400,14400,14400,14400,14400,14400,14400',
      shown: '1 m, 5 m, 15 m, 30 m, 1 h, 2 h, then every 4 h, 48 h in all',
      sentence:
        'Delays in seconds between attempts to deliver a message. The message fails after the last attempt, or once it has waited for the sum of all delays.',
      read: secondsList,
    }),
    agentLoopSeconds: setting({
      name: 'CALLSIGN_AGENT_LOOP_SECONDS',
      fallback: '600',
      sentence:
        'Seconds in which two hosted agents may exchange 20 messages on one thread. Further messages wait until that time has passed. An agent may send 20 answers to one correspondent elsewhere in that time, and further ones need approval. 0 means no limit.',
      read: integer(0, 86_400),
    }),
    approvalHours: setting({
      name: 'CALLSIGN_APPROVAL_HOURS',
      fallback: '72',
      sentence: 'Hours that a draft waits for approval before the request expires, unless the request says otherwise.',
      read: integer(1, 720),
    }),
    organizationSendingLimits: setting({
      name: 'CALLSIGN_ORGANIZATION_SENDING_LIMITS',
      fallback: null,
      shown: '(no limits)',
      sentence:
        'Limits for the mail of an organization that sets none itself, as in `messages_per_hour=1000,new_recipients_per_day=200`. See docs/limits.md.',
      read: sendingLimits,
    }),
    keySendingLimits: setting({
      name: 'CALLSIGN_KEY_SENDING_LIMITS',
      fallback: null,
      shown: '(no limits)',
      sentence: 'The same for the mail sent with one API key.',
      read: sendingLimits,
    }),
    identitySendingLimits: setting({
      name: 'CALLSIGN_IDENTITY_SENDING_LIMITS',
      fallback: null,
      shown: '(no limits)',
      sentence: 'The same for the mail of one identity.',
      read: sendingLimits,
    }),
    postmaster: setting({
      name: 'CALLSIGN_POSTMASTER',
      fallback: null,
      shown: '(such mail is deferred with 451)',
      sentence:
        'Handle of the agent that receives mail for postmaster@ and abuse@, at the mail domain and at the custom domains of its organization.',
      read: (text) => text.replace(/^@/, '').toLowerCase(),
    }),
  },
  check({ mailTransport, smtpRelayUrl }) {
    if (mailTransport === 'relay' && !smtpRelayUrl) return 'CALLSIGN_MAIL_TRANSPORT=relay needs CALLSIGN_SMTP_RELAY_URL'
    return null
  },
})
