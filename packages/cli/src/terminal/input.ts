// Reads answers from a prompt, and secret input from a file, standard input, the environment, or a prompt without echo. Never from the command line.
import type { Readable } from 'node:stream'
import { readBytes } from '../session/files.ts'
import { UsageError } from '../usage-error.ts'
import type { Screen } from './output.ts'

/** A stream that may be a keyboard. */
export type Keyboard = Readable & { isTTY?: boolean; setRawMode?: (isRaw: boolean) => unknown }

const bytesMax = 1024 * 1024

export class Input {
  readonly #keyboard: Keyboard
  readonly #screen: Screen
  #isRead = false

  constructor(keyboard: Keyboard, screen: Screen) {
    this.#keyboard = keyboard
    this.#screen = screen
  }

  get isTerminal(): boolean {
    return this.#keyboard.isTTY === true && this.#keyboard.setRawMode !== undefined
  }

  /** Reads a file, or standard input for `-`, without the newline at its end. */
  async file(path: string): Promise<string> {
    return (await this.value(path)).replace(/^\ufeff/, '').replace(/\r?\n$/, '')
  }

  /** Reads a file, or standard input for `-`, with all its characters. Some values need their last newline, such as SSH keys. */
  async value(path: string): Promise<string> {
    if (path === '-') return this.#standard()
    return toText(await readBytes(path), path)
  }

  /** Standard input as it arrives, for a protocol. */
  stream(): Readable {
    if (this.#isRead) throw new UsageError('Standard input carries the protocol. Give the key with CALLSIGN_API_KEY or a file.')
    this.#isRead = true
    return this.#keyboard
  }

  /** Reads all of standard input. */
  async #standard(): Promise<string> {
    if (this.#isRead) throw new UsageError('Standard input can be read only once. Use - for one option only.')
    this.#isRead = true
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of this.#keyboard) {
      chunks.push(chunk as Buffer)
      size += (chunk as Buffer).length
      if (size > bytesMax) throw new UsageError(`Standard input is larger than ${bytesMax} bytes.`)
    }
    return toText(Buffer.concat(chunks), 'standard input')
  }

  /** Prompts on the terminal without echo. `instead` names the alternatives. Throws UsageError without a terminal. */
  async hidden(question: string, instead: string): Promise<string> {
    if (!this.isTerminal) throw new UsageError(`A prompt needs a terminal. Instead, ${instead}`)
    this.#screen.write(`${question}: `)
    this.#keyboard.setRawMode?.(true)
    try {
      return await readLine(this.#keyboard)
    } finally {
      this.#keyboard.setRawMode?.(false)
      this.#keyboard.pause()
      this.#screen.write('\n')
    }
  }

  /** Prompts on the terminal, with an answer for an empty line. `instead` names the alternatives. Throws UsageError without a terminal. */
  async ask(question: string, usual: string, instead: string): Promise<string> {
    if (!this.isTerminal) throw new UsageError(`A prompt needs a terminal. Instead, ${instead}`)
    this.#screen.write(`${question} [${usual}]: `)
    try {
      return (await readLine(this.#keyboard)).trim() || usual
    } finally {
      this.#keyboard.pause()
    }
  }

  /** Prompts twice and requires the same answer. */
  async hiddenTwice(question: string, instead: string): Promise<string> {
    const first = await this.hidden(question, instead)
    if ((await this.hidden(`${question} again`, instead)) !== first) throw new UsageError('The two answers differ. Try again.')
    return first
  }
}

/** Reads characters until Enter. Backspace deletes one, Ctrl-U all. Ctrl-C cancels, and so does Ctrl-D on an empty line. */
function readLine(keyboard: Keyboard): Promise<string> {
  return new Promise((resolve, reject) => {
    let characters: string[] = []
    const decoder = new TextDecoder()
    const finish = (error: Error | null) => {
      keyboard.off('data', onData)
      keyboard.off('end', onEnd)
      if (error) reject(error)
      else resolve(characters.join(''))
    }
    const onEnd = () => finish(new UsageError('The input ended.'))
    const onData = (chunk: Buffer) => {
      for (const character of decoder.decode(chunk, { stream: true })) {
        if (character === '\r' || character === '\n') return finish(null)
        if (character === '\u0003' || (character === '\u0004' && characters.length === 0)) return finish(new UsageError('Cancelled.'))
        if (character === '\u007f' || character === '\b') characters.pop()
        else if (character === '\u0015') characters = []
        else characters.push(character)
      }
    }
    keyboard.on('data', onData)
    keyboard.on('end', onEnd)
    keyboard.resume()
  })
}

function toText(bytes: Buffer, name: string): string {
  if (bytes.length > bytesMax) throw new UsageError(`${name} is larger than ${bytesMax} bytes.`)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new UsageError(`${name} is not UTF-8 text.`)
  }
}
