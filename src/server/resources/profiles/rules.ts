// Carries out the operations on profiles, one function for each. [contract 5.4.profile] [contract 6.profiles]

import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, mustFind } from '../../core/failure.ts'
import type { OrgReader } from '../../db/handles.ts'
import { nextId } from '../../db/queries/next-id.ts'
import { VersionedAnswer } from '../../http/answer.ts'
import type { InputOf } from '../../http/handlers.ts'
import { change } from '../audit/change.ts'
import { auditRef } from '../audit/changed.ts'
import { makeVersions } from '../configs/make-versions.ts'
import {
  changedSecrets,
  maskedConfig,
  profileContext,
  sameConfig,
  sealConfig,
  shownConfig,
} from '../configs/sealed-config.ts'
import { hasEndpointWithProfile } from '../endpoints/store.ts'
import { endpointRef } from '../endpoints/view.ts'
import { hasRoomWithProfile } from '../rooms/store.ts'
import {
  deleteProfile,
  findProfile,
  insertProfile,
  listEndpointsWithProfile,
  listProfiles,
  type ProfileRow,
  updateProfile,
} from './store.ts'

export const profilesList = async (ctx: RequestContext) => ({
  profiles: (await listProfiles(ctx.db)).map(summary),
})

export const profilesGet = async (ctx: RequestContext, id: number) => view(await requireProfile(ctx.db, id))

export const profilesCreate = (ctx: RequestContext, body: InputOf<'profilesCreate'>['body']) =>
  change(ctx, 'profilesCreate', async (tx) => {
    const id = await nextId(tx, 'profile')
    const row: ProfileRow = {
      org: ctx.org.key,
      id,
      version: 1,
      name: body.name,
      description: body.description || null,
      config_id: await nextId(tx, 'config'),
      ...sealConfig(body.config, undefined, ctx.secrets, profileContext(ctx.org, id)),
    }
    await insertProfile(tx, row)
    return { result: view(row), target: auditRef('profile', row), after: auditView(row) }
  })

/** A change of the config makes a config version on each endpoint that has the profile. [contract 5.4.profile] */
export async function profilesUpdate(ctx: RequestContext, id: number, body: InputOf<'profilesUpdate'>['body']) {
  const { row, endpointIds } = await change(ctx, 'profilesUpdate', async (tx) => {
    const before = await requireProfile(tx, id)
    checkIfMatch(ctx, before.version)
    const stored = sealConfig(body.config, before, ctx.secrets, profileContext(ctx.org, id))
    const isSame = sameConfig(stored, before)
    const row: ProfileRow = {
      ...before,
      version: before.version + 1,
      name: body.name,
      description: body.description || null,
      config_id: isSame ? before.config_id : await nextId(tx, 'config'),
      ...stored,
    }
    await updateProfile(tx, row)
    const endpoints = isSame ? [] : await listEndpointsWithProfile(tx, { profile: id })
    const endpointIds = endpoints.map((e) => e.id)
    await makeVersions(tx, ctx, endpointIds)
    return {
      result: { row, endpointIds },
      target: auditRef('profile', row),
      before: auditView(before),
      after: auditView(row, changedSecrets(before, row)),
      affected: endpoints.map(endpointRef),
    }
  })
  ctx.devices.wake(endpointIds)
  return view(row)
}

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
    return { result: {}, target: auditRef('profile', profile), before: auditView(profile) }
  })

const requireProfile = async (on: OrgReader, id: number) => mustFind(await findProfile(on, { id }), `profile ${id}`)

const auditView = (row: ProfileRow, changed: readonly string[] = []) => ({
  name: row.name,
  description: row.description,
  config: maskedConfig(row, changed),
})

const summary = (row: Pick<ProfileRow, 'id' | 'name' | 'description' | 'config_id'>) => ({
  id: row.id,
  name: row.name,
  ...(row.description !== null && { description: row.description }),
  configId: row.config_id,
})

const view = (row: ProfileRow) => new VersionedAnswer(row.version, { profile: summary(row), config: shownConfig(row) })
