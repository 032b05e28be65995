// Return paths are short enough, are read only with the key that made them, and cannot be forged.
import { expect, test } from 'vitest'
import { newId } from '../../../core/ids.ts'
import { createReturnPaths } from './return-path.ts'

const paths = createReturnPaths(Buffer.alloc(32, 1), 'agents.test')

test('a return path is read back in any letter case, and fits the 64 octets of a local part', () => {
  for (const position of [0, 7, 49, 149]) {
    const messageId = newId('message')
    const address = paths.make({ messageId, position })
    expect(address.indexOf('@')).toBeLessThanOrEqual(64)
    expect(address).toMatch(/^bounce\+[0-9a-z-]+@agents\.test$/)
    for (const spelled of [address, address.toUpperCase(), address.replace('agents', 'AGENTS')])
      expect(paths.read(spelled)).toEqual({ messageId, position })
    expect(paths.isReturnPath(address)).toBe(true)
  }
})

test('no change of it is read: of the message, of the recipient, of any character of the code', () => {
  const messageId = newId('message')
  const address = paths.make({ messageId, position: 0 })
  const code = /-([0-9a-z]{20})@/.exec(address)?.[1] as string
  expect(paths.read(address.replace('-0-', '-1-'))).toBeNull()
  expect(paths.read(address.replace(messageId.slice(4), newId('message').slice(4)))).toBeNull()
  for (let i = 0; i < code.length; i++) {
    const other = code[i] === '0' ? '1' : '0'
    expect(paths.read(address.replace(code, code.slice(0, i) + other + code.slice(i + 1)))).toBeNull()
  }
  expect(createReturnPaths(Buffer.alloc(32, 2), 'agents.test').read(address)).toBeNull()
})

test('rejects return paths that are not ours', () => {
  const address = paths.make({ messageId: newId('message'), position: 0 })
  for (const text of [
    '',
    '@',
    'bounce@agents.test',
    address.replace('@agents.test', '@other.test'),
    address.replace('@agents.test', ''),
    `x${address}`,
    address.replace('-0-', '-00001-'),
  ])
    expect([text, paths.read(text)]).toEqual([text, null])
  expect(paths.isReturnPath('bounce+x@agents.test')).toBe(true)
  expect(paths.isReturnPath('bounce@agents.test')).toBe(false)
  expect(paths.isReturnPath('bounce+x@other.test')).toBe(false)
})
