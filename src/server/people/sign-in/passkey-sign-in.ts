// Signs a person in with a passkey: the browser offers those that it has, so that no name is typed. [contract 11.local]

import type { Role } from '../../../contract/people/permissions.ts'
import type { PasskeySignIn } from '../../../contract/people/sign-in.ts'
import { signInFirst } from '../../auth/failures.ts'
import type { RequestOrigin } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { Failure } from '../../core/failure.ts'
import type { RelyingParty } from '../../core/relying-party.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { recordRefusedSignIn } from '../sessions/refusals.ts'
import { accountDisabled, signInContext, startUserSession } from '../sessions/user-sessions.ts'
import { challengeEnd, challengeLifetimeMs, isFramed, makeChallenge } from './challenge.ts'
import { type FoundPasskey, findPasskey, insertAnsweredChallenge, updatePasskeyUsed } from './passkey-store.ts'
import { loadWebAuthn, userHandleOf } from './passkeys.ts'
import { allowsPasskeys, passkeysTurnedOff } from './ways.ts'

/** Makes the options with which the browser asks for any passkey of this service. */
export async function makePasskeySignInOptions({ secrets, clock }: Services, party: RelyingParty) {
  const { generateAuthenticationOptions } = await loadWebAuthn()
  return generateAuthenticationOptions({
    rpID: party.id,
    challenge: new Uint8Array(makeChallenge(secrets, 'sign-in', clock.now())),
    timeout: challengeLifetimeMs,
    userVerification: 'required',
  })
}

interface PasskeyRequest extends PasskeySignIn {
  readonly browser: string | undefined
}

/** Starts a session, and returns its secret. Every refusal is UNAUTHENTICATED; that of a known passkey is audited. */
export async function sessionStartByPasskey(
  services: Services,
  party: RelyingParty,
  { response, browser }: PasskeyRequest,
  origin: RequestOrigin,
): Promise<string> {
  const passkey = await findPasskey(services.db.system, { id: response.id })
  if (!passkey) {
    throw signInFirst(
      'This passkey is not known here: it was removed, or belongs to another service. Sign in with a company account or a link, and add a new passkey.',
    )
  }
  const org = { key: passkey.org, id: passkey.org_id }
  try {
    refuseOff(passkey)
    const { challenge, end, counter } = await verify(services, party, passkey, response)
    const user = { id: passkey.user_id, email: passkey.email, role: passkey.role as Role }
    const ctx = signInContext(services, org, user, origin)
    return await startUserSession(ctx, user, { via: 'passkey', browser }, async (tx) => {
      const answered = { challenge, end, purpose: 'sign-in', user: user.id }
      if (!(await insertAnsweredChallenge(tx, answered))) throw notAccepted()
      if (!(await updatePasskeyUsed(tx, { id: passkey.id, counter, at: ctx.clock.now() }))) throw notAccepted()
    })
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'UNAUTHENTICATED') throw error
    const target = auditRef('user', { id: passkey.user_id, name: passkey.email })
    const refusal = { identity: `user ${passkey.user_id}`, target, via: 'passkey', reason: error.message } as const
    await recordRefusedSignIn(services, org, refusal, origin)
    throw error
  }
}

const notAccepted = (): Failure =>
  signInFirst('This passkey was not accepted. Try again, or sign in with a link or the company account.')

function refuseOff({ settings, state }: FoundPasskey): void {
  if (state === 'DISABLED') throw accountDisabled()
  if (!allowsPasskeys(settings)) throw signInFirst(passkeysTurnedOff)
}

async function verify(
  { secrets, clock }: Services,
  party: RelyingParty,
  { id, org_id, user_id, org, public_key, counter, transports }: FoundPasskey,
  response: PasskeySignIn['response'],
) {
  // The authenticator names the person to whom it gave the passkey. [WebAuthn 7.2, step 6]
  const { userHandle, ...signed } = response.response
  const handle = userHandleOf({ key: org, id: org_id }, user_id).toString('base64url')
  if (userHandle !== handle) throw notAccepted()
  const { verifyAuthenticationResponse } = await loadWebAuthn()
  let answered: { challenge: string; end: number } | undefined
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...response, response: { ...signed, userHandle }, clientExtensionResults: {} },
      expectedChallenge: (challenge) => {
        const end = challengeEnd(secrets, 'sign-in', challenge, clock.now())
        answered = end === undefined ? undefined : { challenge, end }
        return end !== undefined
      },
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      credential: { id, publicKey: new Uint8Array(public_key), counter, transports: JSON.parse(transports) },
      requireUserVerification: true,
    })
    if (verified && answered && !isFramed(signed.clientDataJSON))
      return { ...answered, counter: authenticationInfo.newCounter }
  } catch {
    // The library describes each mismatch in an error of its own, which would help an attacker more than the person.
  }
  throw notAccepted()
}
