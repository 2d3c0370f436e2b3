// Carries out the operations on the identity provider of an organisation. [contract 11.oidc]

import type { Static } from 'typebox'
import type { Identity } from '../../../contract/people/identity.ts'
import { permissionNames, permissionsOfRole } from '../../../contract/people/permissions.ts'
import { VersionedAnswer } from '../../context/answers.ts'
import { refuseGrantBeyondOwn } from '../../context/grants.ts'
import type { InputOf } from '../../context/handlers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import { Failure, preconditionFailed } from '../../core/failure.ts'
import { RegionAccess } from '../../core/region-access.ts'
import { passkeyProblemOf, providerProblemOf, type SignInAddresses } from '../../core/relying-party.ts'
import type { Tx } from '../../db/handles.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { deleteProviderSessions } from '../sessions/provider-session-store.ts'
import { endSessions } from '../users/end-sessions.ts'
import { deleteIdentitiesAndReinvite } from '../users/identity-store.ts'
import { findOwnerWays } from '../users/store.ts'
import { checkSettings } from './check-settings.ts'
import {
  identityHash,
  isTested,
  type ProviderIdentitySettings,
  readIdentity,
  type StoredIdentity,
  sealClientSecret,
  settingsIn,
} from './settings.ts'
import { findIdentityRow, writeIdentity } from './store.ts'
import { sealTicket } from './test-ticket.ts'

const everyPermission = permissionNames(permissionsOfRole('owner', true))

export async function identityGet(ctx: RequestContext, addresses: SignInAddresses) {
  const identity = await readIdentity(ctx.db, ctx.secrets)
  return new VersionedAnswer(identity.version, view(ctx, identity, addresses))
}

export async function identityUpdate(
  ctx: RequestContext,
  { clientSecret: newSecret, ...given }: InputOf<'identityUpdate'>['body'],
  addresses: SignInAddresses,
) {
  const isTurningOff = newSecret === undefined && given.enabled === false && Object.keys(given).length === 1
  const answer = await change(ctx, 'identityUpdate', async (tx) => {
    // A provider signs in everybody it wants, so a caller that chooses one must have every right itself.
    if (!isTurningOff) refuseGrantBeyondOwn(ctx, everyPermission, RegionAccess.everything)
    const before = await readIdentity(tx, ctx.secrets)
    checkIfMatch(ctx, before.version)
    const settings = await checkSettings(tx, { ...before.settings, ...(given as Partial<ProviderIdentitySettings>) })
    const isOtherProvider = settings.issuer !== before.settings.issuer || settings.clientId !== before.settings.clientId
    const clientSecret =
      newSecret === undefined ? (isOtherProvider ? undefined : before.clientSecret) : (newSecret ?? undefined)
    const after: StoredIdentity = { ...before, version: before.version + 1, settings, clientSecret }
    if (settings.enabled) requireTest(ctx, before, after, addresses)
    await requireWayIn(tx, before.settings, settings, isOtherProvider)
    await writeIdentity(tx, {
      settings: JSON.stringify(settings),
      client_secret: clientSecret === undefined ? null : sealClientSecret(ctx.secrets, tx.org, clientSecret),
    })
    const invited = isOtherProvider ? await removeProviderAccounts(tx, settings) : []
    return {
      result: new VersionedAnswer(after.version, view(ctx, after, addresses)),
      target: auditRef('identity', { id: ctx.org.id, name: settings.issuer ?? '' }),
      before: { ...before.settings },
      after: { ...settings, ...(clientSecret === before.clientSecret ? {} : { clientSecret: 'changed' }) },
      ...(invited.length > 0 && { affected: invited.map(({ id, email }) => auditRef('user', { id, name: email })) }),
    }
  })
  ctx.keysChanged()
  return answer
}

/** Deletes identities and sessions of the former provider. Returns the users who lost their only way to sign in, and are INVITED again. */
async function removeProviderAccounts(tx: Tx, { passkeys }: ProviderIdentitySettings) {
  await deleteProviderSessions(tx)
  const invited = await deleteIdentitiesAndReinvite(tx, { passkeys })
  for (const { id } of invited) await endSessions(tx, id)
  return invited
}

/** Settings with which no person could sign in must not be turned on, so an owner has to have tried them a short while ago. */
function requireTest(
  ctx: RequestContext,
  before: StoredIdentity,
  after: StoredIdentity,
  addresses: SignInAddresses,
): void {
  const problem = setupProblem(after, addresses)
  if (problem) throw preconditionFailed(problem)
  const isSame = identityHash(ctx.secrets, before) === identityHash(ctx.secrets, after)
  if ((before.settings.enabled && isSame) || isTested(ctx.secrets, after, ctx.clock.now())) return
  throw new Failure(
    'FAILED_PRECONDITION',
    'these settings were not tested within the last hour by an owner. Send them with "enabled": false, open the address that identityTest gives, sign in as an owner, and then send "enabled": true.',
  )
}

/**
 * Keeps a way in for an owner where one has it. Turning the provider off alone is allowed: sessions go on, and an owner can turn it
 * on again.
 */
async function requireWayIn(
  tx: Tx,
  before: ProviderIdentitySettings,
  after: ProviderIdentitySettings,
  isOtherProvider: boolean,
): Promise<void> {
  const owners = await findOwnerWays(tx)
  if (!owners.identity && !owners.passkey) return
  if (before.passkeys && !after.passkeys && !(after.enabled && owners.identity && !isOtherProvider)) {
    throw new Failure(
      'FAILED_PRECONDITION',
      'no owner could sign in without passkeys. Turn company accounts on, and let an owner sign in with one first.',
    )
  }
  if (isOtherProvider && owners.identity && !(after.passkeys && owners.passkey)) {
    throw new Failure(
      'FAILED_PRECONDITION',
      'another issuer or clientId removes the company accounts of all owners, and no owner could sign in with a passkey. Turn passkeys on, and let an owner add one first.',
    )
  }
}

export const identityTest = (ctx: RequestContext, addresses: SignInAddresses) =>
  change(ctx, 'identityTest', async (tx) => {
    const identity = await readIdentity(tx, ctx.secrets)
    const problem = setupProblem(identity, addresses)
    if (problem) throw preconditionFailed(problem)
    const hash = identityHash(ctx.secrets, identity)
    const ticket = sealTicket(ctx.secrets, ctx.clock, { orgId: ctx.org.id, hash, actor: ctx.actor })
    return {
      result: { url: `${addresses.publicUrl}/auth/${ctx.org.id}/oidc?test=${ticket}` },
      target: auditRef('identity', { id: ctx.org.id, name: identity.settings.issuer ?? '' }),
      after: { step: 'begun' },
    }
  })

/**
 * Turns the provider off from the command line, whatever its settings are: people sign in with passkeys and links then. The client
 * secret stays as it is stored, so that this works even if it cannot be opened.
 */
export async function identityDisable(ctx: RequestContext): Promise<void> {
  await change(ctx, 'identityUpdate', async (tx) => {
    const row = await findIdentityRow(tx)
    const before = settingsIn(row)
    const after = { ...before, enabled: false }
    await writeIdentity(tx, { settings: JSON.stringify(after), client_secret: row?.client_secret ?? null })
    return {
      result: undefined,
      target: auditRef('identity', { id: ctx.org.id, name: before.issuer ?? '' }),
      before: { ...before },
      after,
    }
  })
  ctx.keysChanged()
}

function setupProblem({ settings }: StoredIdentity, { publicUrl }: SignInAddresses): string | undefined {
  const isSet = settings.issuer !== undefined && settings.clientId !== undefined
  return (
    providerProblemOf(publicUrl) ?? (isSet ? undefined : 'Company accounts are not set up. Enter issuer and client ID.')
  )
}

function view(ctx: RequestContext, identity: StoredIdentity, addresses: SignInAddresses): Static<typeof Identity> {
  const { issuer, clientId, scopes, groupRoles, trustedDomains, ...rest } = identity.settings
  const problem = setupProblem(identity, addresses)
  const { publicUrl, passkeyUrl } = addresses
  const passkeys = passkeyProblemOf(passkeyUrl())
  const isTestCurrent = identity.testedAt !== null && identity.testedHash === identityHash(ctx.secrets, identity)
  const base = publicUrl === undefined ? undefined : `${publicUrl}/auth/${ctx.org.id}/oidc`
  return {
    ...(issuer === undefined ? {} : { issuer }),
    ...(clientId === undefined ? {} : { clientId }),
    hasClientSecret: identity.clientSecret !== undefined,
    scopes: [...scopes],
    groupRoles: groupRoles.map(({ regionIds, ...group }) => ({
      ...group,
      ...(regionIds === undefined ? {} : { regionIds: [...regionIds] }),
    })),
    trustedDomains: [...trustedDomains],
    ...rest,
    ...(isTestCurrent ? { testedAt: isoTime(identity.testedAt ?? 0) } : {}),
    ...(base === undefined ? {} : { callbackUrl: `${base}/callback`, backchannelUrl: `${base}/backchannel` }),
    ...(problem === undefined ? {} : { problem }),
    ...(passkeys === undefined ? {} : { passkeyProblem: passkeys }),
  }
}
