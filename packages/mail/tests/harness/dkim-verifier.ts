// Verifies DKIM signatures with mailauth, and with python3-dkim where it is installed. The DNS records are given.
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { findPythonVerifier, verifyWithPython } from './python-dkim-verifier.ts'

const hasPython = findPythonVerifier() === null

/** The verdict of each verifier on every signature of every message, in order. `records` is TXT values by name. Throws when the verifiers differ. */
export async function verifyDkim(messages: Buffer[], records: Record<string, string>): Promise<string[][]> {
  const found = await Promise.all(messages.map((raw) => verifyWithMailauth(raw, records)))
  if (!hasPython) return found
  const same = verifyWithPython(messages, records).map((verdicts) => verdicts.map((verdict) => (verdict === 'pass' ? 'pass' : 'fail')))
  if (JSON.stringify(same) !== JSON.stringify(found))
    throw new Error(`the verifiers differ: ${JSON.stringify({ mailauth: found, python: same })}`)
  return found
}

async function verifyWithMailauth(raw: Buffer, records: Record<string, string>): Promise<string[]> {
  const resolver = async (name: string): Promise<string[][]> => {
    const record = records[name]
    if (record === undefined) throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
    return [[record]]
  }
  const { results } = await dkimVerify(raw, { resolver, minBitLength: 1024 } as Parameters<typeof dkimVerify>[1])
  return results
    .map(({ status }) => String(status.result))
    .filter((result) => result !== 'none')
    .map((result) => (result === 'pass' ? 'pass' : 'fail'))
}
