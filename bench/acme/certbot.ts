// Drives the ACME server of the tests with Debian's certbot, to show that the server is right.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startAcmeWorld } from '../../packages/server/tests/harness/acme/world.ts'
import { findFreePort } from '../../packages/server/tests/harness/peer-process.ts'
import { type Checklist, expectThat } from '../harness/checklist.ts'

type Ended = { code: number; output: string }

function run(command: string, args: string[], environment: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (bytes: Buffer) => {
        output += bytes.toString()
      })
    child.once('error', reject)
    child.once('close', (code) => resolve({ code: code ?? 1, output }))
  })
}

export async function driveWithCertbot(check: Checklist['check']): Promise<void> {
  const port = await findFreePort()
  const world = await startAcmeWorld(() => port)
  const { acme, dns } = world
  const folder = mkdtempSync(join(tmpdir(), 'callsign-certbot-'))
  for (const name of ['a.certbot.test', 'b.certbot.test']) dns.set(name, { A: ['127.0.0.1'] })
  writeFileSync(join(folder, 'root.pem'), acme.root)
  const directories = ['config', 'work', 'logs'].flatMap((name) => [`--${name}-dir`, join(folder, name)])
  const certbot = (...args: string[]) =>
    run('certbot', [...args, '--server', acme.directoryUrl, '--non-interactive', ...directories], { REQUESTS_CA_BUNDLE: world.caFile })
  const standalone = ['certonly', '--standalone', '--http-01-port', String(port), '--http-01-address', '127.0.0.1']
  const hookOf = (action: string) => `${world.hook} ${action} _acme-challenge.$CERTBOT_DOMAIN $CERTBOT_VALIDATION`
  const manual = [
    'certonly',
    '--manual',
    '--preferred-challenges',
    'dns',
    '--manual-auth-hook',
    hookOf('add'),
    '--manual-cleanup-hook',
    hookOf('remove'),
  ]
  const live = (name: string, file: string) => join(folder, 'config', 'live', name, file)
  const succeed = async (...args: string[]) => {
    const { code, output } = await certbot(...args)
    expectThat(code === 0, `certbot ended with ${code}: ${output.slice(-600)}`)
    return output
  }
  const fail = async (pattern: RegExp, ...args: string[]) => {
    const { code, output } = await certbot(...args)
    expectThat(code !== 0, 'certbot succeeded')
    // Debian's certbot 2.1 prints another error on Python 3.11, and has the problem document in its log.
    const log = readFileSync(join(folder, 'logs', 'letsencrypt.log'), 'utf8')
    expectThat(pattern.test(output + log), `certbot did not report ${pattern}: ${output.slice(-600)}`)
  }
  const account = () => [...acme.state.accounts.values()][0]
  const certificates = () => [...acme.state.certificates.values()]

  try {
    await check('directory, nonce and a new account with a contact', async () => {
      await succeed('register', '--agree-tos', '-m', 'one@certbot.test')
      expectThat(account()?.contact[0] === 'mailto:one@certbot.test', 'the contact is not stored')
      return undefined
    })
    await check('the account is read and its contact changed', async () => {
      await succeed('update_account', '-m', 'two@certbot.test')
      expectThat((await succeed('show_account')).includes('two@certbot.test'), 'the contact is not shown')
      expectThat(account()?.contact[0] === 'mailto:two@certbot.test', 'the contact is not changed')
      return undefined
    })
    await check('HTTP-01 for two names', async () => {
      await succeed(...standalone, '-d', 'a.certbot.test', '-d', 'b.certbot.test', '--cert-name', 'two')
      const { leaf, names } = certificates()[0] as ReturnType<typeof certificates>[number]
      expectThat(names.join() === 'a.certbot.test,b.certbot.test', `issued for ${names.join()}`)
      return `serial ${leaf.serialNumber.slice(0, 8)}…`
    })
    await check('openssl verifies the chain to the root', async () => {
      const { code, output } = await run('openssl', [
        'verify',
        '-CAfile',
        join(folder, 'root.pem'),
        '-untrusted',
        live('two', 'chain.pem'),
        live('two', 'cert.pem'),
      ])
      expectThat(code === 0, output)
      return undefined
    })
    await check('DNS-01 for a wildcard and its name', async () => {
      await succeed(...manual, '-d', '*.wild.test', '-d', 'wild.test', '--cert-name', 'wild')
      expectThat(world.published('_acme-challenge.wild.test').length === 0, 'records were not removed')
      return undefined
    })
    await check('an RSA key and a request of its own', async () => {
      await succeed(...standalone, '-d', 'a.certbot.test', '--cert-name', 'rsa', '--key-type', 'rsa', '--rsa-key-size', '3072')
      return undefined
    })
    await check('a renewal with a badNonce and an order that is processing', async () => {
      Object.assign(acme.faults, { badNonces: 1, processingReads: 2 })
      const before = readFileSync(live('two', 'cert.pem'), 'utf8')
      await succeed('renew', '--force-renewal', '--cert-name', 'two', '--no-random-sleep-on-renew')
      expectThat(readFileSync(live('two', 'cert.pem'), 'utf8') !== before, 'the certificate is the old one')
      expectThat(acme.faults.badNonces === 0, 'no badNonce was sent')
      acme.faults.processingReads = 0
      return undefined
    })
    await check('rateLimited with Retry-After', async () => {
      acme.faults.rateLimitSeconds = 60
      await fail(/acme:error:rateLimited/, ...standalone, '-d', 'a.certbot.test', '--cert-name', 'limited')
      acme.faults.rateLimitSeconds = null
      return undefined
    })
    await check('a name without an address, and one that answers nowhere', async () => {
      await fail(/acme:error:dns/, ...standalone, '-d', 'gone.certbot.test')
      dns.set('far.certbot.test', { A: ['127.0.0.77'] })
      const busy = ['certonly', '--standalone', '--http-01-port', String(await findFreePort()), '-d', 'far.certbot.test']
      await fail(/acme:error:connection/, ...busy)
      return undefined
    })
    await check('a wrong TXT record', async () => {
      dns.set('_acme-challenge.wrong.test', { TXT: ['wrong'] })
      await fail(
        /acme:error:unauthorized/,
        'certonly',
        '--manual',
        '--preferred-challenges',
        'dns',
        '--manual-auth-hook',
        'true',
        '-d',
        'wrong.test',
      )
      return undefined
    })
    await check('revocation by the account, and not a second time', async () => {
      await succeed('revoke', '--cert-name', 'rsa', '--reason', 'superseded', '--no-delete-after-revoke')
      expectThat(
        certificates().some(({ revokedReason }) => revokedReason === 4),
        'the certificate is not revoked',
      )
      await fail(/acme:error:alreadyRevoked/, 'revoke', '--cert-name', 'rsa', '--no-delete-after-revoke')
      return undefined
    })
    await check('revocation by the key of the certificate', async () => {
      await succeed(
        'revoke',
        '--cert-path',
        live('wild', 'cert.pem'),
        '--key-path',
        live('wild', 'privkey.pem'),
        '--reason',
        'keycompromise',
        '--no-delete-after-revoke',
      )
      expectThat(
        certificates().some(({ revokedReason }) => revokedReason === 1),
        'the certificate is not revoked',
      )
      return undefined
    })
    await check('the account is deactivated, and refused from then on', async () => {
      await succeed('unregister')
      expectThat(account()?.status === 'deactivated', 'the account is still valid')
      return undefined
    })
    await check('an account needs the binding to one of the authority, and its key', async () => {
      const hmacKey = Buffer.from('a key of the authority, 32 bytes').toString('base64url')
      acme.settings.externalKeys = { 'key-1': hmacKey }
      const register = ['register', '--agree-tos', '-m', 'three@certbot.test']
      const wrong = Buffer.from('another key of 32 bytes ........').toString('base64url')
      await fail(/external account|eab-kid|externalAccount/i, ...register)
      await fail(/acme:error:unauthorized/, ...register, '--eab-kid', 'key-1', '--eab-hmac-key', wrong)
      await succeed(...register, '--eab-kid', 'key-1', '--eab-hmac-key', hmacKey)
      return undefined
    })
  } finally {
    await world.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
