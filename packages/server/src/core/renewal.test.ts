// Times of renewals and of repeated orders, and the checks of a new certificate.
import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { generateAuthority, generateCertificate, issueCertificate } from './certificate.ts'
import { checkIssued, expiryMs, renewalAtMs, renewalId, retryInMs } from './renewal.ts'

const authority = generateAuthority('Ours', ['example.com'])
const issued = issueCertificate(authority, 'a', ['a.example.com', '*.w.example.com'])
const { validFromDate, validToDate } = new X509Certificate(issued.cert)
const [startMs, endMs] = [validFromDate.getTime(), validToDate.getTime()]
const lifeMs = endMs - startMs

test('a certificate is renewed with a third of its lifetime left, or up to a thirtieth earlier', () => {
  expect(expiryMs(issued.cert)).toBe(endMs)
  expect(renewalAtMs(issued.cert, null, 0)).toBeCloseTo(endMs - lifeMs / 3, 0)
  expect(renewalAtMs(issued.cert, null, 1)).toBeCloseTo(endMs - lifeMs * (1 / 3 + 1 / 30), 0)
})

test('a suggested window decides, but leaves time for repeated orders', () => {
  const window = { startMs: startMs + 1000, endMs: startMs + 3000 }
  expect(renewalAtMs(issued.cert, window, 0.5)).toBe(startMs + 2000)
  expect(renewalAtMs(issued.cert, { startMs: endMs, endMs: endMs + 1 }, 0.5)).toBeCloseTo(endMs - lifeMs / 6, 0)
})

test('failures wait for the next delay of the list, and for the authority', () => {
  const delays = [10, 100]
  expect([0, 1, 2, 9].map((failures) => retryInMs(failures, delays, 0, 0.5))).toEqual([10_000, 100_000, 100_000, 100_000])
  expect(retryInMs(0, delays, 0, 0)).toBe(9_000)
  expect(retryInMs(0, delays, 3_600_000, 0)).toBe(3_600_000)
})

test('the id of a certificate is made of its authority key identifier and its serial number', () => {
  const id = renewalId(issued.cert) as string
  const [keyId, serial] = id.split('.').map((part) => Buffer.from(part, 'base64url').toString('hex').toUpperCase())
  expect(keyId).toHaveLength(40)
  expect(serial?.replace(/^00/, '')).toBe(new X509Certificate(issued.cert).serialNumber)
  expect(renewalId(generateCertificate('a.example.com').cert)).toBeNull()
})

test('a certificate of another key, for another name or of the past is refused', () => {
  const check = (name: string, key = issued.key, nowMs = startMs) => checkIssued(issued.cert, key, name, nowMs)
  check('a.example.com')
  check('*.w.example.com')
  expect(() => check('b.example.com')).toThrow('the certificate is not for b.example.com')
  expect(() => check('*.example.com')).toThrow('the certificate is not for *.example.com')
  expect(() => check('a.example.com', generateCertificate('x').key)).toThrow('the certificate is for another key')
  expect(() => check('a.example.com', issued.key, endMs)).toThrow('the certificate has expired already')
})
