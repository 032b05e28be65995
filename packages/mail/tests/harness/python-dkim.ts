// DKIM and ARC by python3-dkim, an independent implementation that signs messages for our verifier.
import { execFile, execFileSync } from 'node:child_process'

const python = '/usr/bin/python3'

/** Why there can be no python3-dkim here, or null. */
export function findPythonDkim(): string | null {
  try {
    execFileSync(python, ['-c', 'import dkim'], { stdio: 'ignore' })
    return null
  } catch {
    return 'python3-dkim is not installed (apt install python3-dkim)'
  }
}

const program = `
import sys, json, base64, dkim
job = json.load(sys.stdin)
message = base64.b64decode(job["message"])
key = job["key"].encode()
domain, selector = job["domain"].encode(), job["selector"].encode()
if job["kind"] == "dkim":
    options = {"signature_algorithm": job["algorithm"].encode(), "canonicalize": tuple(c.encode() for c in job["canonicalize"])}
    if job["length"]:
        options["length"] = True
    signed = dkim.sign(message, selector, domain, key, **options) + message
else:
    sealed = dkim.arc_sign(message, selector, domain, key, job["service"].encode())
    signed = b"".join(sealed) + message
sys.stdout.buffer.write(signed)
`

type Signer = { domain: string; selector: string; key: string }

function sign(job: Record<string, unknown>, message: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = execFile(python, ['-c', program], { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      error ? reject(new Error(`python3-dkim: ${stderr.toString()}`)) : resolve(stdout),
    )
    child.stdin?.end(JSON.stringify({ ...job, message: message.toString('base64') }))
  })
}

/** The message with a DKIM signature. `key`: PEM for RSA, base64 of the 32-byte seed for Ed25519. `length` adds an l= tag. */
export const signWithPython = (
  message: Buffer,
  signer: Signer & { algorithm: 'rsa-sha256' | 'ed25519-sha256'; canonicalize?: [string, string]; length?: boolean },
): Promise<Buffer> => sign({ kind: 'dkim', canonicalize: ['relaxed', 'relaxed'], length: false, ...signer }, message)

/** The message sealed with one more ARC set; it needs an Authentication-Results field of `service`. */
export const sealWithPython = (message: Buffer, signer: Signer & { service: string }): Promise<Buffer> =>
  sign({ kind: 'arc', ...signer }, message)
