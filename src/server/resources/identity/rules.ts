// Carries out the operations on the identity provider of an organisation. [contract 11.oidc]

import type { Static } from 'typebox'
import type { Identity } from '../../../contract/people/identity.ts'
import { type Permission, permissionsOfRole } from '../../../contract/people/permissions.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import { Failure } from '../../core/failure.ts'
import { RegionAccess } from '../../core/region-access.ts'
import { passkeyProblemOf } from '../../core/relying-party.ts'
import type { Tx } from '../../db/handles.ts'
import { VersionedAnswer } from '../../http/answer.ts'
import { refuseGrantBeyondOwn } from '../../http/grants.ts'
import type { InputOf } from '../../http/handlers.ts'
import { change } from '../audit/change.ts'
import { auditRef } from '../audit/changed.ts'
import { deleteProviderSessions } from '../sessions/provider-session-store.ts'
import { hasOwnerWithIdentity, hasOwnerWithPasskey } from '../sign-in/passkey-store.ts'
import { deleteIdentities } from '../users/identity-store.ts'
import { checkSettings } from './check-settings.ts'
import {
  identityHash,
  isTested,
  type ProviderIdentitySettings,
  readIdentity,
  type StoredIdentity,
  sealClientSecret,
} from './settings.ts'
import { writeIdentity } from './store.ts'
import { sealTicket } from './test-ticket.ts'

/** The value of --public-url. Without it people have no address that a provider could lead them back to. */
type PublicUrl = string | undefined

const everyPermission = Object.keys(permissionsOfRole('owner', true)) as Permission[]

export async function identityGet(ctx: RequestContext, publicUrl: PublicUrl) {
  const identity = await readIdentity(ctx.db, ctx.secrets)
  return new VersionedAnswer(identity.version, view(ctx, identity, publicUrl))
}

export async function identityUpdate(
  ctx: RequestContext,
  { clientSecret: newSecret, ...given }: InputOf<'identityUpdate'>['body'],
  publicUrl: PublicUrl,
) {
  const isTurningOff = newSecret === undefined && given.enabled === false && Object.keys(given).length === 1
  const answer = await change(ctx, 'identityUpdate', async (tx) => {
    // A provider signs in everybody it wants, so a caller that chooses one must have every right itself.
    if (!isTurningOff) refuseGrantBeyondOwn(ctx, everyPermission, RegionAccess.everything)
    const before = await readIdentity(tx, ctx.secrets)
    checkIfMatch(ctx, before.version)
    const settings = await checkSettings(tx, { ...before.settings, ...(given as Partial<ProviderIdentitySettings>) })
    const isOther = settings.issuer !== before.settings.issuer || settings.clientId !== before.settings.clientId
    const clientSecret =
      newSecret === undefined ? (isOther ? undefined : before.clientSecret) : (newSecret ?? undefined)
    const after: StoredIdentity = { ...before, version: before.version + 1, settings, clientSecret }
    if (settings.enabled) requireTest(ctx, before, after, publicUrl)
    if (ctx.actor.type !== 'CLI') await requireWayIn(tx, before.settings, settings, isOther)
    await writeIdentity(tx, {
      settings: JSON.stringify(settings),
      client_secret: clientSecret === undefined ? null : sealClientSecret(ctx.secrets, tx.org, clientSecret),
    })
    if (isOther) {
      await deleteProviderSessions(tx)
      await deleteIdentities(tx)
    }
    return {
      result: new VersionedAnswer(after.version, view(ctx, after, publicUrl)),
      target: auditRef('identity', { id: ctx.org.id, name: settings.issuer ?? '' }),
      before: { ...before.settings },
      after: { ...settings, ...(clientSecret === before.clientSecret ? {} : { clientSecret: 'changed' }) },
    }
  })
  ctx.keysChanged()
  return answer
}

/** Settings that nobody could sign in with must not be turned on, so an owner has to have tried them a short while ago. */
function requireTest(ctx: RequestContext, before: StoredIdentity, after: StoredIdentity, publicUrl: PublicUrl): void {
  const problem = setupProblem(after, publicUrl)
  if (problem) throw new Failure('FAILED_PRECONDITION', problem)
  const isSame = identityHash(ctx.secrets, before) === identityHash(ctx.secrets, after)
  if ((before.settings.enabled && isSame) || isTested(ctx.secrets, after, ctx.clock.now())) return
  throw new Failure(
    'FAILED_PRECONDITION',
    'these settings were not tested within the last hour by an owner. Send them with "enabled": false, open the address that identityTest gives, sign in as an owner, and then send "enabled": true.',
  )
}

/**
 * Keeps a way in for an owner where one has it. Turning the provider off alone is allowed: sessions go on, and an owner can turn it
 * on again. The command line may do everything, because it makes links.
 */
async function requireWayIn(
  tx: Tx,
  before: ProviderIdentitySettings,
  after: ProviderIdentitySettings,
  isOther: boolean,
): Promise<void> {
  const [byPasskey, byIdentity] = [await hasOwnerWithPasskey(tx), await hasOwnerWithIdentity(tx)]
  if (!byPasskey && !byIdentity) return
  if (before.passkeys && !after.passkeys && !(after.enabled && byIdentity && !isOther)) {
    throw new Failure(
      'FAILED_PRECONDITION',
      'no owner could sign in without passkeys. Turn company accounts on, and let an owner sign in with one first.',
    )
  }
  if (isOther && byIdentity && !(after.passkeys && byPasskey)) {
    throw new Failure(
      'FAILED_PRECONDITION',
      'another issuer or clientId removes the company accounts of all owners, and no owner could sign in with a passkey. Turn passkeys on, and let an owner add one first.',
    )
  }
}

export const identityTest = (ctx: RequestContext, publicUrl: PublicUrl) =>
  change(ctx, 'identityTest', async (tx) => {
    const identity = await readIdentity(tx, ctx.secrets)
    const problem = setupProblem(identity, publicUrl)
    if (problem) throw new Failure('FAILED_PRECONDITION', problem)
    const hash = identityHash(ctx.secrets, identity)
    const ticket = sealTicket(ctx.secrets, ctx.clock, { orgId: ctx.org.id, hash, actor: ctx.actor })
    return {
      result: { url: `${publicUrl}/auth/${ctx.org.id}/oidc?test=${ticket}` },
      target: auditRef('identity', { id: ctx.org.id, name: identity.settings.issuer ?? '' }),
      after: { step: 'begun' },
    }
  })

/** Turns the provider off from the command line, whatever its settings are: people sign in with passkeys and links then. */
export const identityDisable = (ctx: RequestContext) => identityUpdate(ctx, { enabled: false }, undefined)

function setupProblem({ settings }: StoredIdentity, publicUrl: PublicUrl): string | undefined {
  if (publicUrl === undefined) {
    return 'sign-in with a provider is off, because the server has no public address. Start it with --public-url.'
  }
  if (settings.issuer === undefined || settings.clientId === undefined) {
    return 'no provider is set up. Set issuer and clientId first.'
  }
  return undefined
}

function view(ctx: RequestContext, identity: StoredIdentity, publicUrl: PublicUrl): Static<typeof Identity> {
  const { issuer, clientId, scopes, groupRoles, trustedDomains, ...rest } = identity.settings
  const problem = setupProblem(identity, publicUrl)
  const passkeys = passkeyProblemOf(publicUrl)
  const isOfThese = identity.testedAt !== null && identity.testedHash === identityHash(ctx.secrets, identity)
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
    ...(isOfThese ? { testedAt: isoTime(identity.testedAt ?? 0) } : {}),
    ...(base === undefined ? {} : { callbackUrl: `${base}/callback`, backchannelUrl: `${base}/backchannel` }),
    ...(problem === undefined ? {} : { problem: problem.charAt(0).toUpperCase() + problem.slice(1) }),
    ...(passkeys === undefined ? {} : { passkeyProblem: passkeys }),
  }
}
