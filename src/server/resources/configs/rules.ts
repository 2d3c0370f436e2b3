// Configs: one function for each operation. [contract 4.endpointsApplyConfig] [contract 5.3] [contract 6.configVersions]

import { type DeviceConfigBody, readOnlyKeys } from '../../../contract/config-keys.ts'
import { checkIfMatch } from '../../context/if-match.ts'
import type { By } from '../../context/request-context.ts'
import { Failure, found, invalid } from '../../core/failure.ts'
import type { Reader, Tx } from '../../db/db.ts'
import { Versioned } from '../../http/answer.ts'
import { asWritten, type NumberText } from '../../http/number-text.ts'
import { type Changed, change } from '../audit/change.ts'
import { endpointRef } from '../endpoints/view.ts'
import { explicitOf, profileOf } from './effective.ts'
import { makeVersions } from './make-versions.ts'
import { reasonsOf, standing, wantedOf } from './rejected.ts'
import { differences, endpointContext, keysOf, type SealedConfig, sealConfig, shownConfig } from './sealed-config.ts'
import { type ConfigRow, findConfig, listVersions, updateExplicit } from './store.ts'
import { readOnlyView, settingsView, stateView, versionView } from './view.ts'

export const endpointsSettings = async (by: By, id: string) => {
  const row = await existing(by.ground.db, by, id)
  return new Versioned(row.version, settingsView(row))
}

export async function endpointsApplyConfig(by: By, id: string, sent: DeviceConfigBody, numberText: NumberText) {
  const row = await change(by, 'endpointsApplyConfig', async (tx) => {
    const row = await existing(tx, by, id)
    checkIfMatch(by, row.version)
    const settable = withoutReadOnly(sent, row)
    refuseFixed(row, Object.keys(settable))
    const { secrets } = by.ground
    const before = explicitOf(row)
    const merged = { ...shownConfig(before), ...settable }
    return set(tx, by, row, sealConfig(merged, before, secrets, endpointContext(by.org, id)))
  })
  by.ground.devices.wake([id])
  return new Versioned(row.version, { config: asWritten(settingsView(row), numberText) })
}

/** How many versions a list shows. */
const mostListed = 200

export async function configVersionsList(by: By, id: string) {
  const { version } = await existing(by.ground.db, by, id)
  // One more than are shown: a version is shown by what it changed.
  const rows = await listVersions(by.ground.db, by.org.key, id, version, mostListed + 1)
  return { versions: rows.slice(0, mostListed).map((row, i) => versionView(row, rows[i + 1])) }
}

export async function configVersionsGet(by: By, id: string, n: number) {
  await existing(by.ground.db, by, id)
  const [row, before] = await versionAndBefore(by.ground.db, by, id, n)
  return versionView(row, before)
}

export async function configVersionsRestore(by: By, id: string, n: number) {
  const row = await change(by, 'configVersionsRestore', async (tx) => {
    const row = await existing(tx, by, id)
    const [old] = await versionAndBefore(tx, by, id, n)
    checkIfMatch(by, row.version)
    refuseFixed(row, keysOf(explicitOf(old)))
    return set(tx, by, row, explicitOf(old))
  })
  by.ground.devices.wake([id])
  return new Versioned(row.version, { config: settingsView(row) })
}

export async function configStateGet(by: By, id: string) {
  const row = await existing(by.ground.db, by, id)
  return stateView(row, reasonsOf(standing(wantedOf(by.ground.secrets, by.org, row), row)))
}

const existing = async (on: Reader, by: By, id: string) => found(await findConfig(on, by.org.key, id), `endpoint ${id}`)

async function versionAndBefore(on: Reader, by: By, id: string, n: number) {
  const [row, before] = await listVersions(on, by.org.key, id, n, 2)
  return [found(row?.version === n ? row : undefined, `config version ${n} of endpoint ${id}`), before] as const
}

/** Each call makes a version, also when nothing changes. The result is the config as it is then. */
async function set(tx: Tx, by: By, row: ConfigRow, to: SealedConfig): Promise<Changed<ConfigRow>> {
  const changes = Object.entries(differences(explicitOf(row), to))
  await updateExplicit(tx, by.org.key, row.id, { explicit: to.config, secrets: to.secrets })
  await makeVersions(tx, by, [row.id])
  const side = (which: 'before' | 'after') =>
    Object.fromEntries(changes.flatMap(([name, d]) => (d[which] === undefined ? [] : [[name, d[which]]])))
  return {
    result: await existing(tx, by, row.id),
    target: endpointRef(row),
    before: side('before'),
    after: side('after'),
  }
}

/** A client may send back what it has read, with the values that it read. [contract 4.endpointsApplyConfig] */
function withoutReadOnly(sent: DeviceConfigBody, row: ConfigRow): DeviceConfigBody {
  const present = readOnlyView(row)
  const isReadOnly = (name: string) => Object.hasOwn(readOnlyKeys, name)
  const changed = Object.keys(sent).filter((name) => isReadOnly(name) && sent[name] !== (present[name] ?? null))
  if (changed.length > 0) {
    throw invalid(changed.map((field) => ({ field, error: 'is read-only: leave it out, or send the value it has' })))
  }
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !isReadOnly(name)))
}

/** Clients know this message word for word. [contract 4.endpointsApplyConfig] */
function refuseFixed(row: ConfigRow, names: readonly string[]): void {
  const conflicts = keysOf(profileOf(row)).filter((name) => names.includes(name))
  if (conflicts.length === 0) return
  throw new Failure(
    'FAILED_PRECONDITION',
    `Failed to apply config: attempted to override profile settings: the following fields contain conflicts: [${conflicts.join(', ')}]`,
    { exact: true },
  )
}
