// The fields of an item: what a request makes of them, how its secrets are sealed, and what answers and the audit log show. [contract 13.items]
import { hash } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { Static } from 'typebox'
import type { ListedGatewayTest, ListedSourceTest } from '../../../contract/device/protocol.ts'
import type { Violation } from '../../../contract/error.ts'
import {
  type DriverField,
  type DriverId,
  type DriverOption,
  drivers,
  type ItemDriverId,
  isSourceType,
  optionsWithDefaults,
} from '../../../contract/fleet/drivers.ts'
import type { GatewayDevice } from '../../../contract/fleet/gateways.ts'
import { textProblem } from '../../../contract/text.ts'
import type { Org } from '../../auth/token-holder.ts'
import { VersionedAnswer } from '../../context/answers.ts'
import type { InputOf } from '../../context/handlers.ts'
import { isoTime } from '../../core/clock.ts'
import { invalid } from '../../core/failure.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { AuditedFields } from '../../journal/audit/audited-fields.ts'
import { plainSource, sourceTargetOf } from '../sources/fields.ts'

/** The columns that say what a gateway connects to, in the tables of items and of tests. */
export const targetColumns = ['driver', 'host', 'port', 'username', 'secrets', 'options', 'fingerprint'] as const
export type TargetRow = Pick<Selectable<DatabaseSchema['gateway_devices']>, (typeof targetColumns)[number]>

export const itemColumns = [
  'id',
  'gateway_id',
  'revision',
  'target_revision',
  ...targetColumns,
  'room_id',
  'name',
  'endpoint_id',
  'duplicate_of',
  'state',
  'reason',
  'since',
  'reached_at',
  'created_at',
  'source_id',
  'source_key',
] as const
export type GatewayItemRow = Pick<Selectable<DatabaseSchema['gateway_devices']>, (typeof itemColumns)[number]>

/** A sealed secret is bound to this context, so it cannot be moved to another item. */
export const itemContext = (org: Org, id: string): string => `gateway device/${org.id}/${id}`
export const testContext = (org: Org, id: string): string => `gateway test/${org.id}/${id}`

/** The device that a gateway connects to, with its secrets in plain text. */
export interface ItemTarget {
  /** The type of the source of a device that belongs to one. */
  readonly driver: ItemDriverId
  readonly host: string
  readonly port: number
  readonly username: string | null
  /** `secret`, and the options that are secret, by name. */
  readonly secrets: Readonly<Record<string, string>>
  /** Without secret ones, and without defaults. */
  readonly options: Readonly<Record<string, DriverOption>>
  readonly fingerprint: string | null
}

export const targetOf = (row: TargetRow, secrets: Secrets, context: string): ItemTarget => ({
  driver: row.driver,
  host: row.host,
  port: row.port,
  username: row.username,
  secrets: row.secrets === null ? {} : JSON.parse(secrets.unseal(row.secrets, context)),
  options: JSON.parse(row.options),
  fingerprint: row.fingerprint,
})

export const targetRow = (target: ItemTarget, secrets: Secrets, context: string): TargetRow => ({
  driver: target.driver,
  host: target.host,
  port: target.port,
  username: target.username,
  secrets: Object.keys(target.secrets).length === 0 ? null : secrets.seal(JSON.stringify(target.secrets), context),
  options: JSON.stringify(target.options),
  fingerprint: target.fingerprint,
})

/** The device as only the gateway itself reads it. */
const plainTarget = ({ host, port, username, secrets, options, fingerprint }: ItemTarget, driver: ItemDriverId) => {
  const { secret, ...secretOptions } = secrets
  return {
    host,
    port,
    ...(username !== null && { username }),
    ...(secret !== undefined && { secret }),
    options: { ...optionsWithDefaults(driver, options), ...secretOptions },
    ...(fingerprint !== null && { fingerprint }),
  }
}

/** An item, and the source of which it is a device. */
export const plainItem = (
  target: ItemTarget,
  { source_id, source_key }: Pick<GatewayItemRow, 'source_id' | 'source_key'>,
) => ({
  driver: target.driver,
  ...plainTarget(target, target.driver),
  ...(source_id !== null && { sourceId: source_id }),
  ...(source_key !== null && { sourceKey: source_key }),
})

/** The tests of a gateway, of devices and of sources. */
export function plainTests(rows: readonly (TargetRow & { readonly id: string })[], org: Org, secrets: Secrets) {
  const tests: ListedGatewayTest[] = []
  const sourceTests: ListedSourceTest[] = []
  for (const row of rows) {
    const { id, driver } = row
    const context = testContext(org, id)
    if (isSourceType(driver)) {
      const { host: url, options: settings } = row
      sourceTests.push({
        id,
        ...plainSource(sourceTargetOf({ type: driver, url, settings, secrets: row.secrets }, secrets, context)),
      })
    } else {
      tests.push({ id, driver, ...plainTarget(targetOf(row, secrets, context), driver) })
    }
  }
  return { tests, ...(sourceTests.length > 0 && { sourceTests }) }
}

type TargetBody = Omit<InputOf<'gatewayDevicesTest'>['body'], 'deviceId'>

interface RequestedTarget {
  readonly target: ItemTarget
  /** The device is another one now, or is reached in another way: its secrets and its pin are gone, unless the request has new ones. */
  readonly hasMoved: boolean
}

/**
 * The values after a request: an absent key keeps what is stored, null clears it. Write access must not be enough to send a stored password
 * to another address, so secrets do not follow the item there. [contract 13.secrets]
 */
export function requestedTarget(body: TargetBody, stored?: ItemTarget): RequestedTarget {
  const { driver = ownDriverOf(stored), host = stored?.host } = body
  if (driver === undefined || host === undefined) {
    throw invalid(
      [driver === undefined ? ['driver'] : [], host === undefined ? ['host'] : []]
        .flat()
        .map((field) => ({ field, error: 'is required' })),
    )
  }
  const { defaultPort, fields } = drivers[driver]
  const kept = stored?.driver === driver ? stored : undefined
  const violations: Violation[] = []
  const port = valueAfter(body.port, kept?.port) ?? defaultPort
  const username = hasField(fields, 'username') ? (valueAfter(body.username, kept?.username) ?? null) : null
  if (body.username && !hasField(fields, 'username')) violations.push(notOfDriver('username', driver))
  if (body.secret && !hasField(fields, 'secret')) violations.push(notOfDriver('secret', driver))

  const { options, secretOptions } = optionsAfter(driver, body.options ?? {}, kept?.options ?? {}, violations)
  const hasMoved =
    stored !== undefined &&
    (kept === undefined ||
      host !== kept.host ||
      port !== kept.port ||
      haveBindingsChanged(driver, kept.options, options))
  const before: Readonly<Record<string, string>> = hasMoved ? {} : (kept?.secrets ?? {})
  const secrets = withoutNulls({
    ...before,
    ...(body.secret !== undefined && hasField(fields, 'secret') && { secret: body.secret }),
    ...secretOptions,
  })
  const fingerprint = valueAfter(body.fingerprint, hasMoved ? undefined : kept?.fingerprint) ?? null
  const values: Readonly<Record<string, unknown>> = { username, secret: secrets.secret }
  for (const { name, required } of fields) {
    // The password of a device that has moved is missing until a person enters it.
    if (required && name in values && !values[name] && !(name === 'secret' && stored)) {
      violations.push({ field: name, error: `is required by the driver ${driver}` })
    }
  }
  if (violations.length > 0) throw invalid(violations)
  return { target: { driver, host, port, username, secrets, options, fingerprint }, hasMoved }
}

const ownDriverOf = (stored: ItemTarget | undefined): DriverId | undefined =>
  stored === undefined || isSourceType(stored.driver) ? undefined : stored.driver

const valueAfter = <T>(sent: T | null | undefined, kept: T | null | undefined) => (sent === undefined ? kept : sent)
const hasField = (fields: readonly DriverField[], name: string) => fields.some((f) => !f.isOption && f.name === name)
const notOfDriver = (field: string, driver: DriverId) => ({ field, error: `is not a field of the driver ${driver}` })

const withoutNulls = (values: Readonly<Record<string, string | null>>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== null))

function haveBindingsChanged(
  driver: DriverId,
  before: Readonly<Record<string, DriverOption>>,
  after: Readonly<Record<string, DriverOption>>,
): boolean {
  const [old, now] = [optionsWithDefaults(driver, before), optionsWithDefaults(driver, after)]
  return drivers[driver].fields.some(
    ({ isOption, bindsSecrets, name }) => isOption && bindsSecrets && old[name] !== now[name],
  )
}

function optionsAfter(
  driver: DriverId,
  sent: NonNullable<TargetBody['options']>,
  kept: Readonly<Record<string, DriverOption>>,
  violations: Violation[],
) {
  const options: Record<string, DriverOption> = { ...kept }
  const secretOptions: Record<string, string | null> = {}
  for (const [name, value] of Object.entries(sent)) {
    const field = drivers[driver].fields.find((f) => f.isOption && f.name === name)
    const problem = field ? value !== null && optionProblem(field, value) : `is not an option of the driver ${driver}`
    if (problem) violations.push({ field: `options.${name.slice(0, 64)}`, error: problem })
    else if (field?.secret) secretOptions[name] = value === '' ? null : (value as string | null)
    else if (value === null || value === field?.default) delete options[name]
    else options[name] = value
  }
  return { options, secretOptions }
}

function optionProblem({ type, choices, min, max, secret }: DriverField, value: DriverOption): string | undefined {
  switch (type) {
    case 'BOOLEAN':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    case 'NUMBER':
      if (!Number.isInteger(value)) return 'must be a whole number'
      return Number(value) < (min ?? 0) || Number(value) > (max ?? 0) ? `must be from ${min} to ${max}` : undefined
    case 'CHOICE':
      return choices?.some((choice) => choice.value === value)
        ? undefined
        : `must be one of ${choices?.map((choice) => choice.value).join(', ')}`
    case 'TEXT':
      if (typeof value !== 'string') return 'must be a text'
      return (
        (secret ? undefined : textProblem(value, false)) ??
        (value.length > (max ?? 0) ? `must have at most ${max} characters` : undefined)
      )
  }
}

/** A row that answers show. */
export interface ShownItem extends GatewayItemRow {
  readonly room_name: string | null
  readonly endpoint_name: string | null
  /** Null if the endpoint is gone. */
  readonly known_endpoint_id: string | null
}

export const itemView = (row: ShownItem, target: ItemTarget): Static<typeof GatewayDevice> => ({
  id: row.id,
  gatewayId: row.gateway_id,
  driver: row.driver,
  ...(row.source_id !== null && { sourceId: row.source_id }),
  ...(row.source_key !== null && { sourceKey: row.source_key }),
  host: row.host,
  port: row.port,
  ...(row.username !== null && { username: row.username }),
  secrets: Object.keys(target.secrets),
  options: optionsWithDefaults(row.driver, target.options),
  ...(row.fingerprint !== null && { fingerprint: row.fingerprint }),
  ...(row.room_name !== null && row.room_id !== null && { roomId: row.room_id, roomName: row.room_name }),
  ...(row.name !== null && { name: row.name }),
  ...(row.known_endpoint_id !== null && { endpointId: row.known_endpoint_id }),
  ...(row.endpoint_name !== null && { endpointName: row.endpoint_name }),
  ...(row.duplicate_of !== null && { duplicateOf: row.duplicate_of }),
  state: row.state,
  ...(row.reason !== null && { reason: row.reason }),
  since: isoTime(row.since),
  ...(row.reached_at !== null && { reachedAt: isoTime(row.reached_at) }),
})

/** The revision is the version of the item. What the gateway reports, and names, change without it. */
export function itemAnswer(row: ShownItem, target: ItemTarget): VersionedAnswer<Static<typeof GatewayDevice>> {
  const view = itemView(row, target)
  return new VersionedAnswer(row.revision, view, hash('sha1', JSON.stringify(view), 'base64url'))
}

interface AuditedItem {
  readonly row: Pick<GatewayItemRow, 'room_id' | 'name'>
  readonly target: ItemTarget
  /** The secrets that the request has changed: they have another mask. */
  readonly changed?: readonly string[]
}

/** Secrets are masked. */
export const auditedItem = new AuditedFields(
  ({ row, target, changed = [] }: AuditedItem) => ({
    driver: target.driver,
    host: target.host,
    port: target.port,
    username: target.username,
    secrets: Object.keys(target.secrets).map((name) => (changed.includes(name) ? `${name} (changed)` : name)),
    options: target.options,
    fingerprint: target.fingerprint,
    roomId: row.room_id,
    name: row.name,
  }),
  ['driver', 'host', 'roomId'],
)

/** Names the secrets that both have, with other values. */
export const changedItemSecrets = (before: ItemTarget, after: ItemTarget): string[] =>
  Object.keys(after.secrets).filter(
    (name) => before.secrets[name] !== undefined && before.secrets[name] !== after.secrets[name],
  )
