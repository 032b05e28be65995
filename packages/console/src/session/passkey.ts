// WebAuthn between the browser and /console/api. Binary fields travel as unpadded base64url.
import { type ConsoleState, consoleCall, consoleState } from './console-api.ts'

type CredentialJson = Record<string, unknown>

/** Signs in with a passkey of this browser. */
export async function signInWithPasskey(): Promise<void> {
  const options = await consoleCall<PublicKeyCredentialRequestOptionsJSON>('POST', 'sign-in/passkey/options', {})
  const credential = await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })
  consoleState.value = await consoleCall<ConsoleState>('POST', 'sign-in/passkey', toJson(credential))
}

/** Creates a passkey for the signed-in member. */
export async function addPasskey(name: string): Promise<void> {
  const options = await consoleCall<PublicKeyCredentialCreationOptionsJSON>('POST', 'me/passkeys/options', {})
  const credential = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })
  await consoleCall('POST', 'me/passkeys', { name, credential: toJson(credential) })
}

function toJson(credential: Credential | null): CredentialJson {
  if (!(credential instanceof PublicKeyCredential)) throw new Error('The browser did not return a passkey.')
  return { ...credential.toJSON() }
}
