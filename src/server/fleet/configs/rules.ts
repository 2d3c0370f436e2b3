// The rules of configs, one function for each operation. [contract 4.endpointsApplyConfig] [contract 5.3] [contract 6.configVersions]

import { type DeviceConfigBody, readOnlyKeys } from '../../../contract/device/config-keys.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { invalid, mustFind } from '../../core/failure.ts'
import { type NumberText, withNumberText } from '../../core/number-text.ts'
import type { OrgReader } from '../../db/handles.ts'
import { change } from '../../journal/audit/change.ts'
import { requireAction } from '../endpoints/device-actions.ts'
import { refuseMissingKeys } from './device-keys.ts'
import { explicitLayer } from './effective.ts'
import { refuseProfileKeys } from './profile-conflict.ts'
import { desiredValuesOf, rejectionReasons, stillRejected } from './rejected.ts'
import { endpointContext, keysOf, sealConfig, shownConfig } from './sealed-config.ts'
import { requireConfig, setExplicit } from './set-explicit.ts'
import { type EndpointConfigRow, listVersions } from './store.ts'
import { readOnlyView, settingsAnswer, settingsView, stateView, unsetView, versionView } from './view.ts'

export const endpointsSettings = async (ctx: RequestContext, id: string) => {
  const row = await requireConfig(ctx.db, id)
  return settingsAnswer(row, settingsView(row))
}

export const endpointsApplyConfig = (ctx: RequestContext, id: string, sent: DeviceConfigBody, numberText: NumberText) =>
  change(ctx, 'endpointsApplyConfig', async (tx) => {
    const row = await requireConfig(tx, id)
    requireAction(row, 'config')
    checkIfMatch(ctx, row.version)
    const settable = withoutReadOnly(sent, row)
    refuseProfileKeys(row, Object.keys(settable))
    const changed = withoutReadBack(sent, settable, row)
    const { secrets } = ctx
    const before = explicitLayer(row)
    const present = shownConfig(before)
    const isSet = (name: string) => changed[name] !== null && changed[name] !== present[name]
    refuseMissingKeys(id, row.config_keys, Object.keys(changed).filter(isSet))
    const merged = { ...present, ...changed }
    const sealed = sealConfig(merged, before, secrets, endpointContext(ctx.org, id))
    const { result, ...entry } = await setExplicit(tx, ctx, row, sealed)
    return {
      ...entry,
      result: settingsAnswer(result, { config: withNumberText(settingsView(result), numberText) }),
      afterCommit: () => ctx.devices.wake([id]),
    }
  })

const maxListedVersions = 200

export async function configVersionsList(ctx: RequestContext, id: string) {
  const { version } = await requireConfig(ctx.db, id)
  // One more than is shown is read, because a version is shown with its difference to the one before.
  const rows = await listVersions(ctx.db, { id, upTo: version, count: maxListedVersions + 1 })
  return { versions: rows.slice(0, maxListedVersions).map((row, i) => versionView(row, rows[i + 1])) }
}

export async function configVersionsGet(ctx: RequestContext, id: string, n: number) {
  await requireConfig(ctx.db, id)
  const [row, before] = await requireVersion(ctx.db, id, n)
  return versionView(row, before)
}

export const configVersionsRestore = (ctx: RequestContext, id: string, n: number) =>
  change(ctx, 'configVersionsRestore', async (tx) => {
    const row = await requireConfig(tx, id)
    requireAction(row, 'config')
    const [old] = await requireVersion(tx, id, n)
    checkIfMatch(ctx, row.version)
    refuseProfileKeys(row, keysOf(explicitLayer(old)))
    const { result, ...entry } = await setExplicit(tx, ctx, row, explicitLayer(old))
    return {
      ...entry,
      result: settingsAnswer(result, { config: settingsView(result) }),
      afterCommit: () => ctx.devices.wake([id]),
    }
  })

export async function configStateGet(ctx: RequestContext, id: string) {
  const row = await requireConfig(ctx.db, id)
  const desired = desiredValuesOf(ctx.secrets, ctx.org, row)
  return stateView(row, rejectionReasons(stillRejected(desired, row)), desired.notForDevice)
}

/** Returns the version and its predecessor, if it has one. */
async function requireVersion(on: OrgReader, id: string, n: number) {
  const [row, before] = await listVersions(on, { id, upTo: n, count: 2 })
  return [mustFind(row?.version === n ? row : undefined, `config version ${n} of endpoint ${id}`), before] as const
}

/** A client may send back read-only keys with the values that it read. [contract 4.endpointsApplyConfig] */
function withoutReadOnly(sent: DeviceConfigBody, row: EndpointConfigRow): DeviceConfigBody {
  const present = readOnlyView(row)
  const isReadOnly = (name: string) => Object.hasOwn(readOnlyKeys, name)
  const changed = Object.keys(sent).filter((name) => isReadOnly(name) && sent[name] !== (present[name] ?? null))
  if (changed.length > 0) {
    throw invalid(changed.map((field) => ({ field, error: 'is read-only: leave it out, or send the value it has' })))
  }
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !isReadOnly(name)))
}

/**
 * A client may read all settings, change one and send everything back. The reported values that it repeats do not become explicit. In
 * any other body every key is meant: it becomes explicit, even with the value that the device has. [contract 4.endpointsApplyConfig]
 */
function withoutReadBack(sent: DeviceConfigBody, settable: DeviceConfigBody, row: EndpointConfigRow): DeviceConfigBody {
  const isWholeAnswer = Object.keys(settingsView(row)).every((name) => Object.hasOwn(sent, name))
  if (!isWholeAnswer) return settable
  const reported = unsetView(row)
  return Object.fromEntries(Object.entries(settable).filter(([name, value]) => reported[name] !== value))
}
