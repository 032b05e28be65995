// Starts and ends the worker of the vault, and keeps the state that the page shows. The page holds no key.
import type { RotationProgress } from '@callsign/sdk'
import { signal } from '@preact/signals'
import { clearCache } from '../../cache/query.ts'
import { bearerToken } from '../../session/session.ts'
import { connectCalls } from './calls.ts'
import { clearCopied } from './clipboard.ts'
import type { Caller, OpenedVault, PageCalls, WorkerCalls } from './protocol.ts'

/** Where the page came from. `server` is its API. */
export type Source = { server: string; script: string; isSaved: boolean }

export type LockReason = 'asked' | 'idle' | 'hidden' | 'left'

/** The signed-in caller, or null until the worker is connected. */
export const caller = signal<Caller | null>(null)
/** The open vault, or null while it is locked. */
export const vault = signal<OpenedVault | null>(null)
export const lockReason = signal<LockReason | null>(null)
export const rotation = signal<RotationProgress | null>(null)
/** False when this browser does not store anything for the page. Pins then last until the page is closed. */
export const hasStoredPins = signal(true)

let source: Source = { server: location.origin, script: '', isSaved: false }
let worker: Worker | null = null
let apiKey: string | null = null
let calls = Promise.withResolvers<WorkerCalls>()

const memoryPins = new Map<string, string>()

function readPins(name: string): string | null {
  try {
    return localStorage.getItem(name)
  } catch {
    hasStoredPins.value = false
    return memoryPins.get(name) ?? null
  }
}

function writePins(name: string, text: string): void {
  memoryPins.set(name, text)
  try {
    localStorage.setItem(name, text)
  } catch {
    hasStoredPins.value = false
  }
}

const answers: PageCalls = {
  ready: async () => undefined,
  token: (isRejected) => bearerToken(isRejected),
  readPins: async (name) => readPins(name),
  async swapPins(name, before, after) {
    if (readPins(name) !== before) return false
    writePins(name, after)
    return true
  },
  async progress(progress) {
    rotation.value = progress
  },
}

/** Lets the worker's script through `require-trusted-types-for`, and nothing else. */
function trusted(script: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: { createPolicy: (name: string, rules: object) => Rules } }
  type Rules = { createScriptURL: (url: string) => string }
  const createScriptURL = (url: string): string => {
    if (url !== source.script) throw new TypeError('The vault runs its own script only.')
    return url
  }
  policy ??= trustedTypes?.createPolicy('callsign-vault', { createScriptURL }) ?? { createScriptURL }
  return policy.createScriptURL(script)
}
let policy: { createScriptURL: (url: string) => string } | undefined

function startWorker(): void {
  const started = new Worker(trusted(source.script), { name: 'callsign-vault' })
  const ready = calls
  const remote = connectCalls<WorkerCalls>(started, { ...answers, ready: async () => ready.resolve(remote) })
  started.addEventListener('error', () => ready.reject(new Error('The script of the vault did not start. Reload the page.')))
  worker = started
}

/** The calls of the worker, once it runs. */
export const vaultCalls = (): Promise<WorkerCalls> => calls.promise

/** Starts the worker of this page. */
export function prepare(from: Source): void {
  source = from
  startWorker()
}

/** Connects to the server, with an API key or the session of the page. */
export async function connect(key: string | null): Promise<void> {
  caller.value = await (await vaultCalls()).connect(source.server, key)
  apiKey = key
}

/** Runs calls that change the vault, and shows the vault that they return. */
export async function change<T extends OpenedVault>(work: (calls: WorkerCalls) => Promise<T>): Promise<T> {
  const opened = await work(await vaultCalls())
  lockReason.value = null
  vault.value = opened
  return opened
}

/** Ends the worker with its memory, forgets what is shown, and starts another worker for the next unlock. */
export function lock(reason: LockReason): void {
  if (vault.peek() === null) return
  worker?.terminate()
  vault.value = null
  rotation.value = null
  lockReason.value = reason
  clearCache()
  void clearCopied()
  calls = Promise.withResolvers()
  startWorker()
  void vaultCalls()
    .then((next) => next.connect(source.server, apiKey))
    .catch(() => undefined)
}

export const serverAddress = (): string => source.server
export const isSavedPage = (): boolean => source.isSaved
