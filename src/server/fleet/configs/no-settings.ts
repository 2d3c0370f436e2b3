// Takes the profile and the pending settings from an endpoint whose device reports that it has no settings. [contract 5.1.actions]
import { unrestrictedContext } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import type { Device } from '../../devices/mqtt/handlers.ts'
import { change } from '../../journal/audit/change.ts'
import { raiseResourceVersions } from '../../journal/places/versions.ts'
import { canDo } from '../endpoints/device-actions.ts'
import { endpointRef } from '../endpoints/fields.ts'
import { updateProfileOf } from '../endpoints/store.ts'
import { endConfig, findConfig } from './store.ts'

/**
 * An enrolled device has the profile of its room before its first status says what it can do. Called after a status was stored; changes nothing for
 * devices that have settings.
 */
export async function endConfigWithoutSettings(services: Services, { org, id, serial, model }: Device): Promise<void> {
  const ctx = unrestrictedContext(services, org, { type: 'DEVICE', id: serial, name: serial })
  if (!hasConfigToEnd(await findConfig(ctx.db, { id }))) return
  await change(ctx, 'deviceHasNoSettings', async (tx) => {
    const row = await findConfig(tx, { id })
    await endConfig(tx, id, ctx.clock.now())
    await updateProfileOf(tx, { ids: [id], profile: null })
    await raiseResourceVersions(tx, { endpointsOfRoom: [row?.room_id] })
    return {
      result: undefined,
      target: endpointRef({ id, serial, model, name: row?.name ?? null }),
      before: { profileId: row?.profile_id ?? null },
      after: { profileId: null },
    }
  })
}

const hasConfigToEnd = (row: Awaited<ReturnType<typeof findConfig>>): boolean =>
  row !== undefined &&
  !canDo(row, 'config') &&
  (row.profile_id !== null || row.state !== 'DELIVERED' || (row.version > 0 && row.reported_version !== row.version))
