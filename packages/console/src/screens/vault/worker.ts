// The worker of the vault. It derives keys, holds the open vault, and makes all requests. Terminating it ends its memory with every key.
import {
  allItems,
  type CallerInfo,
  Callsign,
  createSharedPins,
  type NewSecret,
  type SecretChange,
  type UnlockedVault,
  VaultError,
} from '@callsign/sdk'
import type { Role } from '../../session/console-api.ts'
import { connectCalls, type Port } from './calls.ts'
import type { OpenedVault, PageCalls, WorkerCalls } from './protocol.ts'

const auditPageSize = 100

/** Answers the page until the worker is terminated. */
export function startWorker(): void {
  const page: PageCalls = connectCalls<PageCalls>(
    globalThis as unknown as Port,
    createWorkerCalls(() => page),
  )
  void page.ready()
}

function createWorkerCalls(page: () => PageCalls): WorkerCalls {
  let client: Callsign | null = null
  let vault: UnlockedVault | null = null
  const connected = (): Callsign => {
    if (!client) throw new Error('The vault is not connected to a server.')
    return client
  }
  const open = (): UnlockedVault => {
    if (!vault) throw new VaultError('vault_locked', 'The vault is locked.')
    return vault
  }
  const keep = (opened: UnlockedVault): OpenedVault => {
    vault = opened
    return describe(opened)
  }

  return {
    async connect(server, apiKey) {
      const send = apiKey === null ? sendAsSession(page()) : fetch
      const pins = createSharedPins({ read: page().readPins, swap: page().swapPins })
      client = new Callsign({
        url: server,
        apiKey: apiKey ?? 'session',
        fetch: (input, init) => send(input, { ...init, credentials: 'omit', cache: 'no-store' }),
        vault: { pins },
      })
      const { role, key, organization_name: organization } = await client.me()
      return { role: roleOf(role), name: key.agent_handle === null ? organization : `@${key.agent_handle}` }
    },
    status: () => connected().vault.status(),
    async initialize(vaultKey) {
      const made = await connected().vault.initialize({ vaultKey })
      return { vault: keep(made.vault), recoveryCodes: made.recoveryCodes }
    },
    unlock: async (vaultKey, acceptNewVault) => keep(await connected().vault.unlock(vaultKey, { acceptNewVault })),
    recover: async (code, newVaultKey, acceptNewVault) => keep(await connected().vault.recover(code, newVaultKey, { acceptNewVault })),
    async refresh() {
      await open().refresh()
      return describe(open())
    },
    async get(id) {
      const { payload } = await open().get(id)
      return { id, payload }
    },
    async create(secret: NewSecret) {
      const { id } = await open().create(secret)
      return { ...describe(open()), createdId: id }
    },
    async update(id, change: SecretChange) {
      await open().update(id, change)
      return describe(open())
    },
    async remove(id) {
      await open().delete(id)
      return describe(open())
    },
    totp: (id, nowMs) => open().totp(id, nowMs),
    grants: () => open().allGrants(),
    grant: async (id, identityId) => void (await open().grant(id, { identityId })),
    revoke: (id, identityId) => open().revoke(id, { identityId }),
    identities: () => allItems((cursor) => connected().identities.list({ limit: 100, ...(cursor ? { cursor } : {}) })),
    async audit(cursor) {
      const { data, next_cursor: next } = await connected().audit.list({ limit: auditPageSize, ...(cursor === null ? {} : { cursor }) })
      return { entries: data.filter(({ action }) => action.startsWith('vault.')), next }
    },
    keys: () => connected().vault.keys(),
    deleteKey: (id) => open().deleteKey(id),
    async changeKey(newVaultKey) {
      await open().changeKey(newVaultKey)
      return describe(open())
    },
    async rotate(newVaultKey, recoveryCodes, withoutMissing) {
      await open().rotate(newVaultKey, { recoveryCodes, withoutMissing, onProgress: (progress) => void page().progress(progress) })
      return describe(open())
    },
  }
}

/** The part of the caller. An organization key has the rights of an owner. */
const roleOf = (role: CallerInfo['role']): Role => (role === 'admin' || role === 'member' ? 'owner' : role)

const describe = (vault: UnlockedVault): OpenedVault => ({
  id: vault.id,
  keyVersion: vault.keyVersion,
  fingerprint: vault.fingerprint,
  missing: vault.missing,
  secrets: vault.list().map(({ problem, ...one }) => ({ ...one, problem: problem?.message ?? null })),
})

/** Sends with a console token of the page's session, and once more with another one after a 401. */
const sendAsSession =
  (page: PageCalls) =>
  async (input: string, init: RequestInit): Promise<Response> => {
    const send = async (isRejected: boolean) => {
      const headers = new Headers(init.headers)
      headers.set('Authorization', `Bearer ${await page.token(isRejected)}`)
      return fetch(input, { ...init, headers })
    }
    const response = await send(false)
    return response.status === 401 && !(await isWrongHash(response)) ? send(true) : response
  }

/** True for the 401 of a wrong vault key, which another token would not change. */
const isWrongHash = async (response: Response): Promise<boolean> => (await response.clone().text()).includes('invalid_auth_hash')
