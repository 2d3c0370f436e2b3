// Carries out the operations on profiles and their versions, one function for each. [contract 5.4.profile] [contract 6.profiles] [contract 12.profiles]

import type { InputOf } from '../../context/handlers.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { Actor, RequestContext } from '../../context/request-context.ts'
import { Failure, mustFind } from '../../core/failure.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { pickColumns } from '../../db/queries/columns.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { change } from '../../journal/audit/change.ts'
import { auditRef } from '../../journal/audit/change-result.ts'
import { makeVersions } from '../configs/make-versions.ts'
import { changedSecrets, profileContext, sameConfig, sealConfig } from '../configs/sealed-config.ts'
import { endpointRef } from '../endpoints/fields.ts'
import { hasEndpointWithProfile } from '../endpoints/store.ts'
import { refuseTakenExternalId } from '../external-ids.ts'
import { hasRoomWithProfile } from '../rooms/store.ts'
import {
  auditedProfile,
  externalIdAfter,
  type ProfileRow,
  type ProfileValues,
  profileAnswer,
  profileFieldColumns,
  profileSummary,
  profileValues,
  profileVersionView,
} from './fields.ts'
import {
  deleteProfile,
  findProfile,
  insertProfile,
  listEndpointsWithProfile,
  listProfiles,
  updateProfile,
} from './store.ts'
import { insertProfileVersion, listProfileVersions } from './version-store.ts'

export const profilesList = async (ctx: RequestContext) => ({
  profiles: (await listProfiles(ctx.db)).map(profileSummary),
})

export const profilesGet = async (ctx: RequestContext, id: number) => profileAnswer(await requireProfile(ctx.db, id))

export const profilesCreate = (ctx: RequestContext, body: InputOf<'profilesCreate'>['body']) =>
  change(ctx, 'profilesCreate', async (tx) => {
    const id = await nextId(tx, 'profile')
    const row: ProfileRow = {
      id,
      version: 1,
      config_id: await nextId(tx, 'config'),
      ...profileValues(body, sealConfig(body.config, undefined, ctx.secrets, profileContext(ctx.org, id))),
      external_id: externalIdAfter(body),
    }
    await refuseTakenId(tx, row)
    await insertProfile(tx, row)
    await insertCurrentVersion(tx, ctx, row)
    return { result: profileAnswer(row), target: auditRef('profile', row), after: auditedProfile.all(row) }
  })

export const profilesUpdate = (ctx: RequestContext, id: number, body: InputOf<'profilesUpdate'>['body']) =>
  replaceProfile(ctx, 'profilesUpdate', id, async (_, before) => ({
    ...profileValues(body, sealConfig(body.config, before, ctx.secrets, profileContext(ctx.org, id))),
    external_id: externalIdAfter(body, before),
  }))

/** The passwords of a version are sealed for its profile, so they are copied as they are. */
export const profilesRestore = (ctx: RequestContext, id: number, n: number) =>
  replaceProfile(ctx, 'profilesRestore', id, async (tx) => {
    const [version] = await requireVersion(tx, id, n)
    return pickColumns(version, profileFieldColumns)
  })

/** The author of a version that an earlier program left: Roomkeeper 0.1 stores no versions. */
const unknownAuthor: Actor = { type: 'SYSTEM', id: 'unknown', name: 'Unknown' }

/** A change of the config makes a config version on each endpoint that has the profile. [contract 5.4.profile] */
const replaceProfile = (
  ctx: RequestContext,
  operation: 'profilesUpdate' | 'profilesRestore',
  id: number,
  contentOf: (tx: Tx, before: ProfileRow) => Promise<ProfileValues & Partial<Pick<ProfileRow, 'external_id'>>>,
) =>
  change(ctx, operation, async (tx) => {
    const before = await requireProfile(tx, id)
    const content = await contentOf(tx, before)
    checkIfMatch(ctx, before.version)
    const isSame = sameConfig(content, before)
    const row: ProfileRow = {
      ...before,
      ...content,
      version: before.version + 1,
      config_id: isSame ? before.config_id : await nextId(tx, 'config'),
    }
    await refuseTakenId(tx, row)
    await updateProfile(tx, row)
    await insertProfileVersion(tx, before, unknownAuthor, ctx.clock.now())
    await insertCurrentVersion(tx, ctx, row)
    const endpoints = isSame ? [] : await listEndpointsWithProfile(tx, { profile: id })
    const endpointIds = endpoints.map((e) => e.id)
    await makeVersions(tx, ctx, endpointIds)
    return {
      result: profileAnswer(row),
      afterCommit: () => ctx.devices.wake(endpointIds),
      target: auditRef('profile', row),
      ...auditedProfile.change(before, { ...row, changedSecrets: changedSecrets(before, row) }),
      affected: endpoints.map(endpointRef),
    }
  })

export const profilesDelete = (ctx: RequestContext, id: number) =>
  change(ctx, 'profilesDelete', async (tx) => {
    const profile = await requireProfile(tx, id)
    checkIfMatch(ctx, profile.version)
    if ((await hasRoomWithProfile(tx, { profile: id })) || (await hasEndpointWithProfile(tx, { profile: id }))) {
      throw new Failure(
        'FAILED_PRECONDITION',
        `profile ${id} is still assigned to rooms or endpoints. Assign them another one first.`,
      )
    }
    await deleteProfile(tx, { id })
    return { result: {}, target: auditRef('profile', profile), before: auditedProfile.all(profile) }
  })

const maxListedVersions = 200

export async function profileVersionsList(ctx: RequestContext, id: number) {
  const { version } = await requireProfile(ctx.db, id)
  // One more than is shown is read, because a version is shown with its difference to the one before.
  const rows = await listProfileVersions(ctx.db, { id, upTo: version, count: maxListedVersions + 1 })
  return { versions: rows.slice(0, maxListedVersions).map((row, i) => profileVersionView(row, rows[i + 1])) }
}

export async function profileVersionsGet(ctx: RequestContext, id: number, n: number) {
  await requireProfile(ctx.db, id)
  return profileVersionView(...(await requireVersion(ctx.db, id, n)))
}

const refuseTakenId = (tx: Tx, { id, external_id }: ProfileRow) =>
  refuseTakenExternalId(tx, 'profile', { id, externalId: external_id }, (known) => findProfile(tx, { id: known }))

export const requireProfile = async (on: OrgReader, id: number) =>
  mustFind(await findProfile(on, { id }), `profile ${id}`)

/** Returns the version and the stored one before it, if there is one. */
async function requireVersion(on: OrgReader, id: number, n: number) {
  const [row, before] = await listProfileVersions(on, { id, upTo: n, count: 2 })
  return [mustFind(row?.version === n ? row : undefined, `version ${n} of profile ${id}`), before] as const
}

const insertCurrentVersion = (tx: Tx, { actor, clock }: RequestContext, row: ProfileRow) =>
  insertProfileVersion(tx, row, actor, clock.now())
