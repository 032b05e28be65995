// Shows that certificates work. Drives the ACME server of the tests with Debian's certbot, and then renews certificates of a Callsign server
// under load.
//
// usage: npm run acme
// needs: apt install certbot openssl
import { driveWithCertbot, hasCertbot } from './certbot.ts'
import { failedSteps } from './ledger.ts'
import { renewUnderLoad } from './renewal.ts'

if (!(await hasCertbot())) {
  console.error('certbot or openssl is missing: apt install certbot openssl')
  process.exit(1)
}
console.log("Debian's certbot against the ACME server of the tests")
await driveWithCertbot()
console.log('\nCallsign renews its certificates under load')
await renewUnderLoad()
console.log(failedSteps() === 0 ? '\nEvery step succeeded.' : `\n${failedSteps()} steps failed.`)
process.exitCode = failedSteps() === 0 ? 0 : 1
