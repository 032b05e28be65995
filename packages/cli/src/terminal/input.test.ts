// The hidden prompt does not echo, supports editing keys, and can be cancelled.
import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { Input, type Keyboard } from './input.ts'

function createTerminal() {
  const keyboard = Object.assign(new PassThrough(), { isTTY: true, isRaw: false, setRawMode: (isRaw: boolean) => (keyboard.isRaw = isRaw) })
  const screen = new PassThrough()
  let shown = ''
  screen.on('data', (chunk: Buffer) => (shown += chunk))
  return { keyboard, input: new Input(keyboard as Keyboard, screen), shown: () => shown }
}

test('typed text is read and not shown, and the terminal mode is restored', async () => {
  const { keyboard, input, shown } = createTerminal()
  const answer = input.hidden('Vault key', '')
  expect(keyboard.isRaw).toBe(true)
  keyboard.write('wrong\u0015päss')
  keyboard.write('\u007fs word\r')
  expect(await answer).toBe('päss word')
  expect(keyboard.isRaw).toBe(false)
  expect(shown()).toBe('Vault key: \n')
})

test('a character split over two chunks is one character', async () => {
  const { keyboard, input } = createTerminal()
  const answer = input.hidden('x', '')
  const bytes = Buffer.from('é\r')
  keyboard.write(bytes.subarray(0, 1))
  keyboard.write(bytes.subarray(1))
  expect(await answer).toBe('é')
})

test('two different answers are rejected, and Ctrl-C cancels', async () => {
  const { keyboard, input } = createTerminal()
  const twice = input.hiddenTwice('New vault key', '')
  keyboard.write('one\r')
  await new Promise((resolve) => setImmediate(resolve))
  keyboard.write('two\r')
  await expect(twice).rejects.toThrow('differ')
  const given = input.hidden('x', '')
  keyboard.write('abc\u0003')
  await expect(given).rejects.toThrow('Cancelled')
})

test('without a terminal it names the alternatives', async () => {
  const input = new Input(new PassThrough(), new PassThrough())
  await expect(input.hidden('Vault key', 'use --vault-key-file.')).rejects.toThrow('use --vault-key-file.')
})
