// Settings of `callsignd doctor`.
import { area, setting } from './setting.ts'
import { domainName, isServerAddress } from './values.ts'

export const doctor = area({
  title: 'Doctor',
  settings: {
    doctorBlocklists: setting({
      name: 'CALLSIGN_DOCTOR_BLOCKLISTS',
      fallback: 'zen.spamhaus.org,bl.spamcop.net,b.barracudacentral.org',
      sentence:
        'DNS blocklists that `callsignd doctor` asks about the addresses of this server, as a comma list of zones. `off` asks none.',
      read: (text) => (text === 'off' ? [] : text.split(',').map((part) => domainName(part.trim()))),
    }),
    doctorMailDomain: setting({
      name: 'CALLSIGN_DOCTOR_MAIL_DOMAIN',
      fallback: 'gmail.com',
      sentence:
        'Domain whose mail server `callsignd doctor` connects to and leaves at once, to learn whether port 25 is open for outgoing mail.',
      read: domainName,
    }),
    doctorTimeServer: setting({
      name: 'CALLSIGN_DOCTOR_TIME_SERVER',
      fallback: 'pool.ntp.org',
      sentence:
        'NTP server that `callsignd doctor` compares the clock with, as a name or an address with an optional :port. `off` asks none.',
      read: (text) => (text === 'off' ? null : isServerAddress(text) ? text : domainName(text)),
    }),
  },
})
