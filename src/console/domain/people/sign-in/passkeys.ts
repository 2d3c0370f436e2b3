// The passkeys of the signed-in person, and the ceremonies that add one and sign in with one. [contract 11.local]
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import type { ConsoleSession } from '../../../../contract/people/session.ts'
import {
  type Passkey,
  passkeyAddPath,
  passkeyOptionsPath,
  passkeySignInOptionsPath,
  passkeySignInPath,
  passkeysPath,
} from '../../../../contract/people/sign-in.ts'
import { consoleRequest } from '../../../console-request.ts'
import { loadCode } from '../../../parts/recovery/load-code.ts'
import { startSession } from '../../../session.ts'

/** Most visits need no ceremony, so its code is loaded with the first one. */
const loadCeremonies = () => loadCode(() => import('@simplewebauthn/browser'))

export const ownPasskeys = {
  queryKey: ['ownPasskeys'],
  queryFn: () => consoleRequest<{ readonly passkeys: readonly Passkey[] }>('GET', passkeysPath),
}

export const deleteOwnPasskey = (id: string): Promise<unknown> => consoleRequest('DELETE', `${passkeysPath}/${id}`)

export const browserHasPasskeys = (): boolean => typeof window.PublicKeyCredential === 'function'

export async function signInWithPasskey(): Promise<void> {
  const { startAuthentication } = await loadCeremonies()
  const optionsJSON = await consoleRequest<PublicKeyCredentialRequestOptionsJSON>('POST', passkeySignInOptionsPath, {})
  const response = await startAuthentication({ optionsJSON }).catch(throwSentence)
  startSession(await consoleRequest<ConsoleSession>('POST', passkeySignInPath, { response }))
}

/** Without a name the passkey is called after the browser and the system. */
export async function createPasskey(name: string): Promise<Passkey> {
  const { startRegistration } = await loadCeremonies()
  const optionsJSON = await consoleRequest<PublicKeyCredentialCreationOptionsJSON>('POST', passkeyOptionsPath, {})
  const response = await startRegistration({ optionsJSON }).catch(throwSentence)
  return consoleRequest('POST', passkeyAddPath, { ...(name !== '' && { name }), response })
}

/** The messages of browsers name specifications; these say what to do. */
function throwSentence(error: unknown): never {
  const name = error instanceof Error ? error.name : ''
  const sentence =
    sentences[name] ?? 'The browser could not use a passkey. Try again, or use another browser or device.'
  throw new Error(sentence, { cause: error })
}

const sentences: Readonly<Record<string, string>> = {
  NotAllowedError: 'The passkey was cancelled or took too long. Try again.',
  AbortError: 'The passkey was cancelled or took too long. Try again.',
  InvalidStateError: 'This device already has a passkey for your account. Sign in with it, or use another device.',
  SecurityError: 'Passkeys work only at the public address of Roomkeeper. Open the console there.',
  NotSupportedError: 'This device cannot store passkeys. Use another device or a security key.',
}
