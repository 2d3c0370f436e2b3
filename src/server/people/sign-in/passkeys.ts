// Adds, lists and removes the passkeys of a signed-in person. [contract 11.local]

import { maxPasskeys, type Passkey, type PasskeyAdd } from '../../../contract/people/sign-in.ts'
import { sessionEnded } from '../../auth/failures.ts'
import type { Org } from '../../auth/token-holder.ts'
import { contextOf, type RequestOrigin } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { isoTime } from '../../core/clock.ts'
import { Failure, invalid, mustFind, preconditionFailed } from '../../core/failure.ts'
import { parseInt32 } from '../../core/int32.ts'
import type { RelyingParty } from '../../core/relying-party.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { findOrg } from '../../journal/orgs/store.ts'
import type { UserCaller } from '../sessions/browser-sessions.ts'
import { hasUserSession } from '../sessions/user-session-store.ts'
import { requireOwnerWhoSignsIn } from '../users/owners.ts'
import { raiseUserVersion } from '../users/store.ts'
import { challengeEnd, challengeLifetimeMs, isFramed, makeChallenge } from './challenge.ts'
import { rememberPasskeyHost } from './passkey-host.ts'
import {
  deletePasskey,
  findPasskeySettings,
  insertAnsweredChallenge,
  insertPasskey,
  listPasskeys,
} from './passkey-store.ts'
import { allowsPasskeys, passkeysTurnedOff } from './ways.ts'

/** EdDSA, ES256 and RS256, which all authenticators know one of. All nodes offer the same ones. */
const supportedAlgorithmIDs = [-8, -7, -257]

/** The library is loaded at its first use, because a start would wait for it. */
export const loadWebAuthn = () => import('@simplewebauthn/server')

/** An authenticator keeps one passkey for each handle, so a person always has the same one. */
export const userHandleOf = ({ id }: Org, userId: number): Buffer<ArrayBuffer> => Buffer.from(`${id}/${userId}`)

const addSubject = ({ org, user }: UserCaller) => `add ${org.key}/${user.id}` as const

/** Makes the options with which the browser asks an authenticator for a new passkey. */
export async function makePasskeyOptions(services: Services, party: RelyingParty, person: UserCaller) {
  const { db, secrets, clock } = services
  const { org, user, actor } = person
  await requirePasskeysAllowed(services, org)
  const passkeys = await listPasskeys(db.forOrg(org.key), { user: user.id })
  refuseTooMany(passkeys.length)
  const name = (await findOrg(db.system, { id: org.id }))?.name ?? org.id
  const { generateRegistrationOptions } = await loadWebAuthn()
  return generateRegistrationOptions({
    rpName: 'Roomkeeper',
    rpID: party.id,
    userID: userHandleOf(org, user.id),
    userName: actor.name,
    userDisplayName: `${actor.name} (${name})`,
    challenge: new Uint8Array(makeChallenge(secrets, addSubject(person), clock.now())),
    timeout: challengeLifetimeMs,
    attestationType: 'none',
    excludeCredentials: passkeys.map(({ id, transports }) => ({ id, transports: JSON.parse(transports) })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    supportedAlgorithmIDs,
  })
}

interface NewPasskey extends PasskeyAdd {
  /** The name that is used if the person gave none. */
  readonly browser: string | undefined
}

/** Stores the passkey that an authenticator has made. */
export async function addPasskey(
  services: Services,
  party: RelyingParty,
  person: UserCaller,
  { response, name: givenName, browser }: NewPasskey,
  origin: RequestOrigin,
): Promise<Passkey> {
  const { org, user, actor } = person
  await requirePasskeysAllowed(services, org)
  const { credential, challenge, end } = await verifyAdded(services, party, person, response)
  const name = givenName ?? browser ?? 'Passkey'
  const createdAt = services.clock.now()
  // This comes first: an error after the commit would look as if the passkey had not been added.
  await rememberPasskeyHost(services, party.id)
  const number = await change(contextOf(services, person, origin), 'passkeyAdd', async (tx) => {
    // The session may have been ended, or every way to sign in removed, since the request began.
    if (!(await hasUserSession(tx, { hash: person.session.hash }))) throw sessionEnded()
    const answered = { challenge, end, purpose: 'add', user: user.id }
    if (!(await insertAnsweredChallenge(tx, answered))) throw notAccepted()
    refuseTooMany((await listPasskeys(tx, { user: user.id })).length)
    const number = await nextId(tx, 'passkey')
    const isNew = await insertPasskey(tx, {
      id: credential.id,
      user_id: user.id,
      number,
      name,
      public_key: Buffer.from(credential.publicKey),
      counter: credential.counter,
      transports: JSON.stringify(response.response.transports ?? []),
      created_at: createdAt,
    })
    if (!isNew) throw new Failure('FAILED_PRECONDITION', 'this passkey was added already. Use another one.')
    await raiseUserVersion(tx, { user: user.id })
    return { result: number, target: auditRef('user', actor), after: { passkey: String(number), name } }
  })
  return { id: String(number), name, createdAt: isoTime(createdAt) }
}

async function verifyAdded(
  { secrets, clock }: Services,
  party: RelyingParty,
  person: UserCaller,
  response: PasskeyAdd['response'],
) {
  const { verifyRegistrationResponse } = await loadWebAuthn()
  let answered: { challenge: string; end: number } | undefined
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: { ...response, response: { ...response.response, transports: [] }, clientExtensionResults: {} },
      expectedChallenge: (challenge) => {
        const end = challengeEnd(secrets, addSubject(person), challenge, clock.now())
        answered = end === undefined ? undefined : { challenge, end }
        return end !== undefined
      },
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs,
    })
    if (verified && answered && !isFramed(response.response.clientDataJSON))
      return { credential: registrationInfo.credential, ...answered }
  } catch {
    // The library describes each mismatch in an error of its own, which would not help the person.
  }
  throw notAccepted()
}

const notAccepted = () =>
  invalid([
    {
      field: 'response',
      error: 'does not match the options that this person got, or came after more than 5 minutes. Start again',
    },
  ])

export async function listOwnPasskeys({ db }: Services, { org, user }: UserCaller): Promise<Passkey[]> {
  const rows = await listPasskeys(db.forOrg(org.key), { user: user.id })
  return rows.map(({ number, name, created_at, used_at }) => ({
    id: String(number),
    name,
    createdAt: isoTime(created_at),
    ...(used_at !== null && { usedAt: isoTime(used_at) }),
  }))
}

export async function removePasskey(
  services: Services,
  person: UserCaller,
  passkeyId: string,
  origin: RequestOrigin,
): Promise<void> {
  const { user, actor } = person
  await change(contextOf(services, person, origin), 'passkeyRemove', async (tx) => {
    const number = parseInt32(passkeyId)
    const removed = mustFind(
      number === undefined ? undefined : await deletePasskey(tx, { user: user.id, number }),
      `passkey ${passkeyId}`,
    )
    if (user.role === 'owner') await requireOwnerWhoSignsIn(tx)
    await raiseUserVersion(tx, { user: user.id })
    return {
      result: undefined,
      target: auditRef('user', actor),
      before: { passkey: String(removed.number), name: removed.name },
    }
  })
}

async function requirePasskeysAllowed({ db }: Services, org: Org): Promise<void> {
  const row = await findPasskeySettings(db.forOrg(org.key))
  if (!allowsPasskeys(row?.settings)) throw preconditionFailed(passkeysTurnedOff)
}

function refuseTooMany(count: number): void {
  if (count < maxPasskeys) return
  throw new Failure('FAILED_PRECONDITION', `a person has at most ${maxPasskeys} passkeys. Remove one first.`)
}
