// Configs: one function for each operation. [contract 4.endpointsApplyConfig] [contract 5.3] [contract 6.configVersions]

import { type DeviceConfigBody, readOnlyKeys } from '../../../contract/config-keys.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { Failure, invalid, mustFind } from '../../core/failure.ts'
import type { OrgReader, Tx } from '../../db/handles.ts'
import { VersionedAnswer } from '../../http/answer.ts'
import { type NumberText, withNumberText } from '../../http/number-text.ts'
import { type Changed, change } from '../audit/change.ts'
import { endpointRef } from '../endpoints/view.ts'
import { explicitLayer, profileLayer } from './effective.ts'
import { makeVersions } from './make-versions.ts'
import { desiredValuesOf, rejectionReasons, stillRejected } from './rejected.ts'
import { differences, endpointContext, keysOf, type SealedConfig, sealConfig, shownConfig } from './sealed-config.ts'
import { type EndpointConfigRow, findConfig, listVersions, updateExplicit } from './store.ts'
import { readOnlyView, settingsView, stateView, versionView } from './view.ts'

export const endpointsSettings = async (ctx: RequestContext, id: string) => {
  const row = await existing(ctx.db, ctx, id)
  return new VersionedAnswer(row.version, settingsView(row))
}

export async function endpointsApplyConfig(
  ctx: RequestContext,
  id: string,
  sent: DeviceConfigBody,
  numberText: NumberText,
) {
  const row = await change(ctx, 'endpointsApplyConfig', async (tx) => {
    const row = await existing(tx, ctx, id)
    checkIfMatch(ctx, row.version)
    const settable = withoutReadOnly(sent, row)
    refuseFixed(row, Object.keys(settable))
    const { secrets } = ctx
    const before = explicitLayer(row)
    const merged = { ...shownConfig(before), ...settable }
    return set(tx, ctx, row, sealConfig(merged, before, secrets, endpointContext(ctx.org, id)))
  })
  ctx.devices.wake([id])
  return new VersionedAnswer(row.version, { config: withNumberText(settingsView(row), numberText) })
}

/** How many versions a list shows. */
const mostListed = 200

export async function configVersionsList(ctx: RequestContext, id: string) {
  const { version } = await existing(ctx.db, ctx, id)
  // One more than are shown: a version is shown by what it changed.
  const rows = await listVersions(ctx.db, { id, upTo: version, count: mostListed + 1 })
  return { versions: rows.slice(0, mostListed).map((row, i) => versionView(row, rows[i + 1])) }
}

export async function configVersionsGet(ctx: RequestContext, id: string, n: number) {
  await existing(ctx.db, ctx, id)
  const [row, before] = await versionAndBefore(ctx.db, ctx, id, n)
  return versionView(row, before)
}

export async function configVersionsRestore(ctx: RequestContext, id: string, n: number) {
  const row = await change(ctx, 'configVersionsRestore', async (tx) => {
    const row = await existing(tx, ctx, id)
    const [old] = await versionAndBefore(tx, ctx, id, n)
    checkIfMatch(ctx, row.version)
    refuseFixed(row, keysOf(explicitLayer(old)))
    return set(tx, ctx, row, explicitLayer(old))
  })
  ctx.devices.wake([id])
  return new VersionedAnswer(row.version, { config: settingsView(row) })
}

export async function configStateGet(ctx: RequestContext, id: string) {
  const row = await existing(ctx.db, ctx, id)
  return stateView(row, rejectionReasons(stillRejected(desiredValuesOf(ctx.secrets, ctx.org, row), row)))
}

const existing = async (on: OrgReader, ctx: RequestContext, id: string) =>
  mustFind(await findConfig(on, id), `endpoint ${id}`)

async function versionAndBefore(on: OrgReader, ctx: RequestContext, id: string, n: number) {
  const [row, before] = await listVersions(on, { id, upTo: n, count: 2 })
  return [mustFind(row?.version === n ? row : undefined, `config version ${n} of endpoint ${id}`), before] as const
}

/** Each call makes a version, also when nothing changes. The result is the config as it is then. */
async function set(
  tx: Tx,
  ctx: RequestContext,
  row: EndpointConfigRow,
  to: SealedConfig,
): Promise<Changed<EndpointConfigRow>> {
  const changes = Object.entries(differences(explicitLayer(row), to))
  await updateExplicit(tx, { id: row.id, explicit: to.config, secrets: to.secrets })
  await makeVersions(tx, ctx, [row.id])
  const side = (which: 'before' | 'after') =>
    Object.fromEntries(changes.flatMap(([name, d]) => (d[which] === undefined ? [] : [[name, d[which]]])))
  return {
    result: await existing(tx, ctx, row.id),
    target: endpointRef(row),
    before: side('before'),
    after: side('after'),
  }
}

/** A client may send back what it has read, with the values that it read. [contract 4.endpointsApplyConfig] */
function withoutReadOnly(sent: DeviceConfigBody, row: EndpointConfigRow): DeviceConfigBody {
  const present = readOnlyView(row)
  const isReadOnly = (name: string) => Object.hasOwn(readOnlyKeys, name)
  const changed = Object.keys(sent).filter((name) => isReadOnly(name) && sent[name] !== (present[name] ?? null))
  if (changed.length > 0) {
    throw invalid(changed.map((field) => ({ field, error: 'is read-only: leave it out, or send the value it has' })))
  }
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !isReadOnly(name)))
}

/** Clients know this message word for word. [contract 4.endpointsApplyConfig] */
function refuseFixed(row: EndpointConfigRow, names: readonly string[]): void {
  const conflicts = keysOf(profileLayer(row)).filter((name) => names.includes(name))
  if (conflicts.length === 0) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `Failed to apply config: attempted to override profile settings: the following fields contain conflicts: [${conflicts.join(', ')}]`,
    { exact: true },
  )
}
