// Defects of the vault, of secrets kept at rest, and of what a key may read.
import type { Mutant } from '../mutant.ts'

const sdk = 'packages/sdk/src/vault'
const server = 'packages/server/src/features/vault'
const tunnels = 'packages/server/src/features/tunnels'
const pins = 'packages/sdk/src/vault/pins.test.ts'
const keyHandling = 'packages/sdk/tests/key-handling.test.ts'
const attempts = 'packages/server/src/features/vault/attempts.test.ts'
const bodies = 'packages/server/src/features/tunnels/body-masking.test.ts'

const row = (test: string, file: string, name: string, find: string, replace: string, only?: string): Mutant => ({
  name,
  file,
  find,
  replace,
  test,
  ...(only !== undefined && { only }),
})

export const mutants: Mutant[] = [
  // Pins
  row(pins, `${sdk}/pins.ts`, 'organization of the pin not compared', 'pins.organization !== claim.organization', 'false'),
  row(pins, `${sdk}/pins.ts`, 'an unknown vault accepted on a server with pins', 'Object.keys(document?.vaults ?? {}).length > 0', 'false'),
  row(pins, `${sdk}/pins.ts`, 'the vault of an API key not compared', 'expected !== undefined && expected !== claim.vaultId', 'false'),
  row(pins, `${sdk}/pins.ts`, 'an earlier key version accepted', 'claim.keyVersion < pins.state.keyVersion', 'false'),
  row(pins, `${sdk}/pins.ts`, 'salt not compared', 'a.salt === b.salt && a.kdf.m', 'a.kdf.m'),
  row(pins, `${sdk}/pins.ts`, 'memory not compared', 'a.kdf.m === b.kdf.m && ', ''),
  row(pins, `${sdk}/pins.ts`, 'passes not compared', 'a.kdf.t === b.kdf.t && ', ''),
  row(pins, `${sdk}/pins.ts`, 'lanes not compared', ' && a.kdf.p === b.kdf.p', ''),
  row(pins, `${sdk}/pins.ts`, 'a later key version accepted', '!states.some((state) => state.keyVersion === claim.keyVersion)', 'false'),
  row(pins, `${sdk}/pins.ts`, 'fingerprint not compared', ' && state.fingerprint === fingerprint', ''),
  row(pins, `${sdk}/pins.ts`, 'an earlier binding lost', 'pin.bound || (old?.bound ?? false)', 'pin.bound'),
  row(pins, `${sdk}/pins.ts`, 'a lower revision pinned', 'Math.max(pin.rev, old?.rev ?? 0)', 'pin.rev'),
  row(pins, `${sdk}/pins.ts`, 'a deletion forgotten', 'pin.deleted ?? old?.deleted', 'pin.deleted'),
  row(pins, `${sdk}/pins.ts`, 'pins of secrets lost when the vault is pinned again', 'secrets: old?.secrets ?? {}', 'secrets: {}'),
  row(pins, `${sdk}/pins.ts`, 'a pending change lost', 'pins.pending = old.pending', 'pins.pending = undefined as never'),
  row(pins, `${sdk}/pins.ts`, 'a confirmed change kept as pending', ' && old.state.keyVersion === state.keyVersion', ' && true'),
  row(pins, `${sdk}/pins.ts`, 'pins of other vaults lost', '{ ...whole.vaults, [claim.vaultId]: pins }', '{ [claim.vaultId]: pins }'),
  // Wiping
  row(
    keyHandling,
    `${sdk}/vault.ts`,
    'bytes of the vault key kept after an unlock',
    '    } finally {\n      secret.fill(0)\n    }',
    '    } finally {\n    }',
  ),
  row(keyHandling, `${sdk}/vault.ts`, 'bytes of a recovery code kept', '.finally(() => secret.fill(0))', ''),
  row(keyHandling, `${sdk}/vault.ts`, 'master key kept after an unlock', '      master.wipe()', ''),
  row(keyHandling, `${sdk}/key-wrapping.ts`, 'bytes of a new vault key kept', '    secret.fill(0)', ''),
  row(keyHandling, `${sdk}/key-wrapping.ts`, 'master key kept after wrapping', '    master.wipe()', ''),
  row(
    keyHandling,
    `${sdk}/secret-box.ts`,
    'plaintext kept after opening',
    'readPlaintext(plaintext)\n    plaintext.fill(0)',
    'readPlaintext(plaintext)',
  ),
  row(
    keyHandling,
    `${sdk}/secret-box.ts`,
    'plaintext kept after sealing',
    'sealBlob(this.#key, plaintext)\n    plaintext.fill(0)',
    'sealBlob(this.#key, plaintext)',
  ),
  row(keyHandling, `${sdk}/key-changes.ts`, 'old organization key kept after a rotation', '  context.organizationKey.wipe()\n', ''),
  row(keyHandling, `${sdk}/unlocked-vault.ts`, 'organization key kept after locking', '    this.#context.organizationKey.wipe()\n', ''),
  row(keyHandling, `${sdk}/aes.ts`, 'a wiped key still usable', '    this.#isWiped = true\n', ''),
  // The answer of an unlock
  row(
    keyHandling,
    `${sdk}/vault.ts`,
    'parameters after the unlock not compared',
    ' || JSON.stringify(used.params) !== JSON.stringify(kdf.params)',
    '',
  ),
  row(keyHandling, `${sdk}/vault.ts`, 'salt after the unlock not compared', 'used.saltText !== kdf.saltText || ', ''),
  row(
    'packages/server/tests/vault-keys.test.ts',
    `${server}/operations.ts`,
    'no second look after a rotation in between',
    'if (keyVersion !== vault.key_version) continue',
    '',
    'looks again',
  ),
  // Wrong hashes
  row(
    attempts,
    `${server}/attempts.ts`,
    'failures of an agent counted per key',
    'failure.identity_id === identityId)',
    'failure.key_id === keyId)',
  ),
  row(
    attempts,
    `${server}/attempts.ts`,
    'organization keys in the window of agents',
    '(failure.identity_id === null) === (identityId === null)',
    'true',
  ),
  row(attempts, `${server}/attempts.ts`, 'no limit of all together', ', ofType[failuresPerTypeMax - 1]]', ']'),
  row(attempts, `${server}/attempts.ts`, 'the eleventh failure decides', 'own[failuresPerHolderMax - 1]', 'own[failuresPerHolderMax]'),
  row(attempts, `${server}/attempts.ts`, 'only the first key compared', 'found ??= key', 'if (key === keys[0]) found ??= key'),
  // The inspector
  row(bodies, `${tunnels}/body-masking.ts`, 'values inside a secret member shown', 'level.isSecret || (level.isObject', '(level.isObject'),
  row(
    bodies,
    `${tunnels}/body-masking.ts`,
    'compressed bodies not read',
    'return gunzipSync(body,',
    'if (body) return body\n        return gunzipSync(body,',
  ),
  row(
    bodies,
    `${tunnels}/body-masking.ts`,
    'an unreadable coding stored',
    '      default:\n        return null',
    '      default:\n        return body',
  ),
  row(bodies, `${tunnels}/body-masking.ts`, 'form fields shown', 'equals > 0 && isSecretField', 'equals < 0 && isSecretField'),
]
