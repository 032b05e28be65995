// The choice of PostgreSQL's accounts under root.
import { expect, test } from 'vitest'
import { chooseFor } from './account.ts'

const debian = `root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
bin:x:2:2:bin:/bin:/usr/sbin/nologin
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
`
const dedicated = { name: 'user number 57432', uid: 57432, gid: 57432 }
const bin = { name: 'bin', uid: 2, gid: 2 }
const callsign = { name: 'callsign', uid: 990, gid: 991 }
const withCallsign = `${debian}callsign:x:990:991::/nonexistent:/usr/sbin/nologin\n`

test.each([
  ['a number of its own on a plain machine', null, debian, { run: dedicated, create: bin }],
  ['the next number when an account has it', null, `${debian}ann:x:57432:1::/:/bin/sh\n`, { run: { uid: 57433 } }],
  ['the next number when a group has it', null, `${debian}ann:x:1000:57432::/:/bin/sh\n`, { run: { uid: 57433 } }],
  ['callsign where it exists', null, withCallsign, { run: callsign, create: callsign }],
  ['the owner of existing data', { uid: 2, gid: 2 }, withCallsign, { run: bin, create: bin }],
  ['an owner without an entry', { uid: 700, gid: 701 }, debian, { run: { uid: 700, gid: 701 }, create: bin }],
  ['not nobody, though it owns the data', { uid: 65534, gid: 65534 }, debian, { run: dedicated, create: bin }],
  ['not nobody under another number', { uid: 99, gid: 99 }, debian.replaceAll('65534', '99'), { run: dedicated, create: bin }],
  ['not root, though it owns the data', { uid: 0, gid: 0 }, debian, { run: dedicated, create: bin }],
  ['postgres only to create the files', null, `${debian}postgres:x:101:104::/:/bin/sh\n`, { run: dedicated, create: { uid: 101 } }],
])('%s', (_name, owner, passwd, accounts) => {
  expect(chooseFor(owner, passwd)).toMatchObject(accounts)
})

test('a machine without another account is asked for one', () => {
  expect(() => chooseFor(null, 'root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n')).toThrow('useradd --system callsign')
})
