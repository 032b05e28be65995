// An independent verifier of DKIM signatures: Debian's python3-dkim, given the DNS records instead of asking for them.
import { execFileSync } from 'node:child_process'

// Debian's packages belong to Debian's Python.
const python = '/usr/bin/python3'

const program = `
import base64, json, sys
import dkim
given = json.load(sys.stdin)
records = {(name + '.').encode(): value.encode() for name, value in given['records'].items()}
results = []
for text in given['messages']:
    raw = base64.b64decode(text)
    verifier = dkim.DKIM(raw)
    count = sum(1 for name, _ in verifier.headers if name.lower() == b'dkim-signature')
    verdicts = []
    for index in range(count):
        try:
            verdicts.append('pass' if dkim.DKIM(raw).verify(index, dnsfunc=lambda name, timeout=5: records.get(name)) else 'fail')
        except dkim.DKIMException as error:
            verdicts.append(type(error).__name__ + ': ' + str(error))
    results.append(verdicts)
print(json.dumps(results))
`

/** Why signatures cannot be verified here, or null. */
export function findPythonVerifier(): string | null {
  try {
    execFileSync(python, ['-c', 'import dkim, nacl'], { stdio: 'ignore' })
    return null
  } catch {
    return 'python3-dkim and python3-nacl are not installed (apt install python3-dkim python3-nacl)'
  }
}

/** Results for every signature of every message, in order: `pass`, or the error. `records` are TXT values by name. */
export function verifyWithPython(messages: Buffer[], records: Record<string, string>): string[][] {
  const input = JSON.stringify({ messages: messages.map((raw) => raw.toString('base64')), records })
  return JSON.parse(execFileSync(python, ['-c', program], { input, maxBuffer: 64 * 1024 * 1024 }).toString())
}
