// The fields of a source: what a request makes of them, how its secrets are sealed, and what the audit log shows. [contract 15.sources]
import { createPrivateKey, hash, X509Certificate } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { Violation } from '../../../contract/error.ts'
import type { SourceType } from '../../../contract/fleet/drivers.ts'
import { pulseUrls, type SensorMapping, type SourceSecretName } from '../../../contract/fleet/sources.ts'
import type { Org } from '../../auth/token-holder.ts'
import type { InputOf } from '../../context/handlers.ts'
import { invalid } from '../../core/failure.ts'
import type { Secrets } from '../../core/secrets.ts'
import type { DatabaseSchema } from '../../db/schema/schema.ts'
import { AuditedFields } from '../../journal/audit/audited-fields.ts'

export type { LinkedKind, SourceDeviceState } from '../../../contract/fleet/sources.ts'

export const sourceColumns = [
  'id',
  'gateway_id',
  'type',
  'name',
  'url',
  'settings',
  'secrets',
  'enrol_room_id',
  'revision',
  'target_revision',
  'state',
  'reason',
  'since',
  'reached_at',
  'returned_at',
  'content',
  'created_at',
] as const
export type SourceRow = Pick<Selectable<DatabaseSchema['sources']>, (typeof sourceColumns)[number]>

/** A sealed secret is bound to this context, so it cannot be moved to another source. */
export const sourceContext = (org: Org, id: string): string => `source/${org.id}/${id}`

/** They are stored as JSON, and none of them is secret. */
export interface StoredSettings {
  readonly orgId?: string
  readonly write?: boolean
  readonly username?: string
  readonly topics?: readonly string[]
  readonly authority?: string
  readonly clientCertificate?: string
  readonly mappings?: readonly SensorMapping[]
  readonly fingerprint?: string
}
type SettingName = keyof StoredSettings
export type SourceSecrets = Readonly<Partial<Record<SourceSecretName, string>>>

/** A source as a gateway connects to it, with the secrets in plain text. */
export interface SourceTarget {
  readonly type: SourceType
  readonly url: string
  readonly settings: StoredSettings
  readonly secrets: SourceSecrets
}

interface TypeFields {
  readonly schemes: readonly string[]
  readonly defaultUrl?: string
  readonly settings: readonly SettingName[]
  readonly secrets: readonly SourceSecretName[]
  readonly required: readonly (SettingName | SourceSecretName)[]
}

const typeFields: Readonly<Record<SourceType, TypeFields>> = {
  'neat-pulse': {
    schemes: ['https', 'http'],
    defaultUrl: pulseUrls[0],
    settings: ['orgId', 'write', 'authority', 'fingerprint'],
    secrets: ['key'],
    required: ['orgId', 'key'],
  },
  mqtt: {
    schemes: ['mqtts', 'mqtt', 'wss', 'ws'],
    settings: ['username', 'topics', 'authority', 'clientCertificate', 'mappings', 'fingerprint'],
    secrets: ['secret', 'clientKey'],
    required: [],
  },
}

const settingNames = [...new Set(Object.values(typeFields).flatMap(({ settings }) => settings))]
const secretNames = [...new Set(Object.values(typeFields).flatMap(({ secrets }) => secrets))]

/** A change of one of these makes the gateway connect anew, so the present session says nothing about them. */
const connectionSettings = ['orgId', 'username', 'authority', 'clientCertificate', 'fingerprint'] as const

export const sourceTargetOf = (
  row: Pick<SourceRow, 'type' | 'url' | 'settings' | 'secrets'>,
  secrets: Secrets,
  context: string,
): SourceTarget => ({
  type: row.type,
  url: row.url,
  settings: JSON.parse(row.settings),
  secrets: row.secrets === null ? {} : JSON.parse(secrets.unseal(row.secrets, context)),
})

export const sourceTargetRow = ({ url, settings, secrets }: SourceTarget, sealer: Secrets, context: string) => ({
  url,
  settings: JSON.stringify(settings),
  secrets: Object.keys(secrets).length === 0 ? null : sealer.seal(JSON.stringify(secrets), context),
})

/** The source as only its gateway reads it. */
export const plainSource = ({ type, url, settings, secrets }: SourceTarget) => {
  const { topics, mappings, ...others } = settings
  return {
    type,
    url,
    ...others,
    ...(topics && { topics: [...topics] }),
    ...(mappings && { mappings: [...mappings] }),
    ...secrets,
  }
}

type SourceBody = Omit<InputOf<'sourcesTest'>['body'], 'sourceId' | 'gatewayId'>

interface RequestedSource {
  readonly target: SourceTarget
  /** The address is another one now: the secrets and the fingerprint are gone, unless the request has new ones. */
  readonly hasMoved: boolean
}

/**
 * The values after a request: an absent key keeps what is stored, null clears it. Write access must not be enough to send a stored key to
 * another address, so secrets do not follow the source there. [contract 15.secrets]
 */
export function requestedSource(body: SourceBody, stored?: SourceTarget): RequestedSource {
  const type = stored?.type ?? body.type
  if (type === undefined) throw invalid([{ field: 'type', error: 'is required' }])
  const fields = typeFields[type]
  const violations: Violation[] = []
  if (stored && body.type !== undefined && body.type !== type) {
    violations.push({ field: 'type', error: `must be ${type}, as it is stored` })
  }
  const url = withoutSlashes(body.url ?? stored?.url ?? fields.defaultUrl ?? '')
  const problem = url === '' ? `is required by a source of the type ${type}` : urlProblem(url, fields.schemes)
  if (problem) violations.push({ field: 'url', error: problem })
  const hasMoved = stored !== undefined && url !== stored.url

  const wrong = [...settingNames, ...secretNames].filter(
    (name) => body[name] !== undefined && body[name] !== null && !isFieldOf(fields, name),
  )
  for (const field of wrong) violations.push({ field, error: `is not a field of a source of the type ${type}` })
  const settings = withoutEmpty(
    Object.fromEntries(
      fields.settings.map((name) => {
        const kept = hasMoved && name === 'fingerprint' ? undefined : stored?.settings[name]
        return [name, valueAfter(body[name], kept)]
      }),
    ),
  ) as StoredSettings
  const secrets = withoutEmpty(
    Object.fromEntries(
      fields.secrets.map((name) => [name, valueAfter(body[name], hasMoved ? undefined : stored?.secrets[name])]),
    ),
  ) as SourceSecrets
  const values: Readonly<Record<string, unknown>> = { ...settings, ...secrets }
  for (const field of fields.required) {
    // The key of a source that has moved is missing until a person enters it.
    const isLost = stored !== undefined && secretNames.some((name) => name === field)
    if (values[field] === undefined && !isLost) {
      violations.push({ field, error: `is required by a source of the type ${type}` })
    }
  }
  violations.push(...certificateProblems(body, { settings, secrets }))
  if (violations.length > 0) throw invalid(violations)
  return { target: { type, url, settings, secrets }, hasMoved }
}

const isFieldOf = ({ settings, secrets }: TypeFields, name: string) =>
  [...settings, ...secrets].some((field) => field === name)

const valueAfter = (sent: unknown, kept: unknown) => (sent === undefined ? kept : sent)
/** `write` is false in every source that does not say otherwise, and an empty list is none. */
const withoutEmpty = (values: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(values).filter(
      ([, value]) =>
        value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0),
    ),
  )

const withoutSlashes = (url: string) => url.replace(/\/+$/, '')

function urlProblem(text: string, schemes: readonly string[]): string | undefined {
  const url = URL.parse(text)
  if (!url || !schemes.includes(url.protocol.slice(0, -1)) || url.hostname === '') {
    return `must be an address that starts with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}`
  }
  if (url.username !== '' || url.password !== '')
    return 'must not hold a user or a password: they have fields of their own'
  // An empty query or fragment leaves its sign.
  return /[?#]/.test(text) ? 'must not have a query or a fragment' : undefined
}

/** Certificates and keys that the request has are read, so a person learns of a mistake immediately. */
function certificateProblems(
  { authority, clientCertificate, clientKey }: SourceBody,
  { settings, secrets }: Pick<SourceTarget, 'settings' | 'secrets'>,
): Violation[] {
  const problems: Violation[] = []
  const check = (field: string, text: string | null | undefined, read: (text: string) => unknown, noun: string) => {
    if (text === undefined || text === null) return
    try {
      read(text)
    } catch {
      problems.push({ field, error: `is not ${noun} in PEM form` })
    }
  }
  check('authority', authority, (text) => new X509Certificate(text), 'a certificate')
  check('clientCertificate', clientCertificate, (text) => new X509Certificate(text), 'a certificate')
  check('clientKey', clientKey, (text) => createPrivateKey(text), 'a private key without a password')
  if (clientCertificate && secrets.clientKey === undefined) {
    problems.push({ field: 'clientKey', error: 'is required by a client certificate' })
  }
  if (clientKey && settings.clientCertificate === undefined) {
    problems.push({ field: 'clientCertificate', error: 'is required by its private key' })
  }
  return problems
}

/** Whether the gateway has to connect anew, and what it reported last does not count. */
export const isConnectedAnew = (before: SourceTarget, after: SourceTarget): boolean =>
  before.url !== after.url ||
  JSON.stringify(before.secrets) !== JSON.stringify(after.secrets) ||
  connectionSettings.some((name) => before.settings[name] !== after.settings[name])

const defaultPorts: Readonly<Record<string, number>> = {
  https: 443,
  http: 80,
  wss: 443,
  ws: 80,
  mqtts: 8883,
  mqtt: 1883,
}
/** Host and port as the items of the source show them. */
export function hostOf(text: string): { host: string; port: number } {
  const url = new URL(text)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return { host, port: url.port === '' ? (defaultPorts[url.protocol.slice(0, -1)] ?? 0) : Number(url.port) }
}

interface AuditedSource {
  readonly row: Pick<SourceRow, 'gateway_id' | 'name' | 'enrol_room_id'>
  readonly target: SourceTarget
  /** The secrets that the request has changed: they have another mask. */
  readonly changed?: readonly string[]
}

/** Secrets are masked. Long texts are shown by a part of their hash, so an entry says that they have changed. */
export const auditedSource = new AuditedFields(
  ({ row, target: { type, url, settings, secrets }, changed = [] }: AuditedSource) => ({
    type,
    gatewayId: row.gateway_id,
    name: row.name,
    url,
    orgId: settings.orgId,
    write: settings.write ?? false,
    username: settings.username,
    topics: settings.topics,
    authority: settings.authority && shortHash(settings.authority),
    clientCertificate: settings.clientCertificate && shortHash(settings.clientCertificate),
    mappings: settings.mappings?.map((mapping) => `${mapping.model} ${shortHash(JSON.stringify(mapping))}`),
    fingerprint: settings.fingerprint,
    enrolIntoRoomId: row.enrol_room_id,
    secrets: Object.keys(secrets).map((name) => (changed.includes(name) ? `${name} (changed)` : name)),
  }),
  ['type', 'url'],
)

const shortHash = (text: string) => hash('sha256', text, 'hex').slice(0, 12)

/** Names the secrets that both have, with other values. */
export const changedSourceSecrets = (before: SourceTarget, after: SourceTarget): string[] =>
  secretNames.filter(
    (name) =>
      before.secrets[name] !== undefined &&
      after.secrets[name] !== undefined &&
      before.secrets[name] !== after.secrets[name],
  )
