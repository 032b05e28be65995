// Shows that certificates work. Drives the ACME server of the tests with Debian's certbot, and then renews certificates of a Callsign server
// under load: `npm run acme`.
//
// It needs Debian's certbot and openssl.
import { createChecklist, requirePrograms } from '../harness/checklist.ts'
import { driveWithCertbot } from './certbot.ts'
import { renewUnderLoad } from './renewal.ts'

requirePrograms({ certbot: 'certbot', openssl: 'openssl' })
const { check, finish } = createChecklist()
console.log("Debian's certbot against the ACME server of the tests")
await driveWithCertbot(check)
console.log('\nCallsign renews its certificates under load')
await renewUnderLoad(check)
finish()
