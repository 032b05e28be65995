// A certificate in two files, read again when they change.
import { readFileSync, unwatchFile, watchFile } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { Certificate } from '../../core/certificate.ts'
import type { CertificateSource } from '../../core/certificate-source.ts'
import type { Log } from '../../core/log.ts'

const lookEveryMs = 1000

export type CertificateFiles = CertificateSource & { stop(): void }

/** Throws when the files cannot be read or do not match. `what` names the certificate in log lines, as in `the certificate for tunnels`. */
export function openCertificateFiles(files: Certificate, what: string, log: Log): CertificateFiles {
  const listeners: (() => void)[] = []
  let current = readPair(files)

  const reload = () => {
    try {
      const next = readPair(files)
      if (next.cert === current.cert && next.key === current.key) return
      current = next
      for (const listener of listeners) listener()
      log.info(`${what} was reloaded`)
    } catch (err) {
      // Only one of the two files may have been replaced so far. The old pair is served until both match.
      log.warn({ err }, `loading the changed ${what.replace(/^the /, '')} failed`)
    }
  }
  for (const file of Object.values(files)) watchFile(file, { interval: lookEveryMs, persistent: false }, reload)

  return {
    find: () => current,
    onChange: (listener) => void listeners.push(listener),
    stop() {
      for (const file of Object.values(files)) unwatchFile(file, reload)
    },
  }
}

function readPair({ cert, key }: Certificate): Certificate {
  const pair = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
  createSecureContext(pair)
  return pair
}
