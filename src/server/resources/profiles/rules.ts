// Profiles: one function for each operation. [contract 5.4.profile] [contract 6.profiles]

import { checkIfMatch } from '../../context/if-match.ts'
import type { By } from '../../context/request-context.ts'
import { Failure, found } from '../../core/failure.ts'
import type { Reader } from '../../db/db.ts'
import { nextId } from '../../db/next-id.ts'
import { Versioned } from '../../http/answer.ts'
import type { InputOf } from '../../http/handlers.ts'
import { change, ref } from '../audit/change.ts'
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
  listHolders,
  listProfiles,
  type ProfileRow,
  updateProfile,
} from './store.ts'

export const profilesList = async (by: By) => ({
  profiles: (await listProfiles(by.ground.db, by.org.key)).map(summary),
})

export const profilesGet = async (by: By, id: number) => view(await existing(by.ground.db, by, id))

export const profilesCreate = (by: By, body: InputOf<'profilesCreate'>['body']) =>
  change(by, 'profilesCreate', async (tx) => {
    const id = await nextId(tx, by.org.key, 'profile')
    const row: ProfileRow = {
      org: by.org.key,
      id,
      version: 1,
      name: body.name,
      description: body.description || null,
      config_id: await nextId(tx, by.org.key, 'config'),
      ...sealConfig(body.config, undefined, by.ground.secrets, profileContext(by.org, id)),
    }
    await insertProfile(tx, row)
    return { result: view(row), target: ref('profile', row), after: audited(row) }
  })

/** A change of the config makes a version on each endpoint that has the profile. [contract 5.4.profile] */
export async function profilesUpdate(by: By, id: number, body: InputOf<'profilesUpdate'>['body']) {
  const { row, holders } = await change(by, 'profilesUpdate', async (tx) => {
    const before = await existing(tx, by, id)
    checkIfMatch(by, before.version)
    const stored = sealConfig(body.config, before, by.ground.secrets, profileContext(by.org, id))
    const isSame = sameConfig(stored, before)
    const row: ProfileRow = {
      ...before,
      version: before.version + 1,
      name: body.name,
      description: body.description || null,
      config_id: isSame ? before.config_id : await nextId(tx, by.org.key, 'config'),
      ...stored,
    }
    await updateProfile(tx, row)
    const endpoints = isSame ? [] : await listHolders(tx, by.org.key, id)
    const holders = endpoints.map((e) => e.id)
    await makeVersions(tx, by, holders)
    return {
      result: { row, holders },
      target: ref('profile', row),
      before: audited(before),
      after: audited(row, changedSecrets(before, row)),
      affected: endpoints.map(endpointRef),
    }
  })
  by.ground.devices.wake(holders)
  return view(row)
}

export const profilesDelete = (by: By, id: number) =>
  change(by, 'profilesDelete', async (tx) => {
    const profile = await existing(tx, by, id)
    checkIfMatch(by, profile.version)
    if ((await hasRoomWithProfile(tx, by.org.key, id)) || (await hasEndpointWithProfile(tx, by.org.key, id))) {
      throw new Failure(
        'FAILED_PRECONDITION',
        `profile ${id} is still assigned to rooms or endpoints. Assign them another one first.`,
      )
    }
    await deleteProfile(tx, by.org.key, id)
    return { result: {}, target: ref('profile', profile), before: audited(profile) }
  })

const existing = async (on: Reader, by: By, id: number) => found(await findProfile(on, by.org.key, id), `profile ${id}`)

const audited = (row: ProfileRow, changed: readonly string[] = []) => ({
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

const view = (row: ProfileRow) => new Versioned(row.version, { profile: summary(row), config: shownConfig(row) })
