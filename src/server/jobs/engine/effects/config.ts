// Sets the keys of a CONFIG job on each endpoint of a unit. [contract 12.job]
import type { RequestContext } from '../../../context/request-context.ts'
import { deviceKeys } from '../../../fleet/configs/device-keys.ts'
import { explicitLayer, profileLayer } from '../../../fleet/configs/effective.ts'
import { refuseProfileKeys } from '../../../fleet/configs/profile-conflict.ts'
import { endpointContext, keysOf, sealConfig, shownConfig } from '../../../fleet/configs/sealed-config.ts'
import { requireConfig, setExplicit } from '../../../fleet/configs/set-explicit.ts'
import { deleteRejections, findConfig } from '../../../fleet/configs/store.ts'
import { openAction } from '../../action.ts'
import { type EffectInput, sendEffect } from './effect.ts'

/** A version for each endpoint, as endpointsApplyConfig makes it. */
export async function sendConfig(input: EffectInput): Promise<void> {
  const { ctx, job, endpoints } = input
  const config = openAction(job, ctx.secrets, ctx.org).config ?? {}
  for (const { endpoint_id: id, version_after } of endpoints) {
    await sendEffect(input, 'endpointsApplyConfig', async (tx) => {
      const row = await requireConfig(tx, id)
      refuseProfileKeys(row, Object.keys(config))
      const before = explicitLayer(row)
      // A person has asked for a second attempt, so the device gets the values that it rejected once more.
      if (version_after !== null) await deleteRejections(tx, { ids: [id] })
      // Keys that the device does not have are left out.
      const has = deviceKeys(row.config_keys)
      const own = Object.fromEntries(Object.entries(config).filter(([name]) => has(name)))
      const sealed = sealConfig({ ...shownConfig(before), ...own }, before, ctx.secrets, endpointContext(ctx.org, id))
      const changed = await setExplicit(tx, ctx, row, sealed, { jobId: job.id })
      return { changed, sent: [{ id, versionBefore: row.version, versionAfter: changed.result.version }] }
    })
    ctx.devices.wake([id])
  }
}

/** The first profile of these endpoints that locks keys of the job. It is known before the first endpoint of a room is changed. */
export async function findConflict(
  ctx: RequestContext,
  { job, endpoints }: Pick<EffectInput, 'job' | 'endpoints'>,
): Promise<{ readonly profileId: number; readonly keys: readonly string[] } | undefined> {
  const names = Object.keys(openAction(job, ctx.secrets, ctx.org).config ?? {})
  for (const { endpoint_id } of endpoints) {
    const row = await findConfig(ctx.db, { id: endpoint_id })
    if (!row || row.profile_id === null) continue
    const keys = keysOf(profileLayer(row)).filter((name) => names.includes(name))
    if (keys.length > 0) return { profileId: row.profile_id, keys }
  }
  return undefined
}
