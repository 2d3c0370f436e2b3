// The values of the form of a source, and the request bodies that they make. [contract 15.sources]
import type { CallInput } from '../../../../client/client.ts'
import type { SourceType } from '../../../../contract/fleet/drivers.ts'
import type { Source } from '../../../../contract/fleet/sources.ts'
import { pulseUrls, type SourceSecretName } from '../../../../contract/fleet/sources.ts'

/** Texts as they are in the fields. An empty text leaves a value out, and keeps the stored secret. */
export interface SourceDraft {
  readonly gatewayId: string | null
  readonly name: string
  readonly url: string
  readonly orgId: string
  readonly write: boolean
  readonly username: string
  /** One topic filter on each line. */
  readonly topics: string
  readonly authority: string
  readonly clientCertificate: string
  readonly enrolIntoRoomId: string | null
  readonly secrets: Readonly<Record<SourceSecretName, string>>
  /** The secrets to delete. */
  readonly cleared: readonly SourceSecretName[]
  /** The certificate that the person trusts, if they chose one in this form. */
  readonly fingerprint: string | undefined
}

const noSecrets = { key: '', secret: '', clientKey: '' } as const

export const newSourceDraft = (type: SourceType, gatewayId: string | null): SourceDraft => ({
  gatewayId,
  name: '',
  url: type === 'neat-pulse' ? pulseUrls[0] : '',
  orgId: '',
  write: false,
  username: '',
  topics: '',
  authority: '',
  clientCertificate: '',
  enrolIntoRoomId: null,
  secrets: noSecrets,
  cleared: [],
  fingerprint: undefined,
})

export const sourceDraftOf = (source: Source): SourceDraft => ({
  gatewayId: source.gatewayId,
  name: source.name,
  url: source.url,
  orgId: source.orgId ?? '',
  write: source.write ?? false,
  username: source.username ?? '',
  topics: (source.topics ?? []).join('\n'),
  authority: source.authority ?? '',
  clientCertificate: source.clientCertificate ?? '',
  enrolIntoRoomId: source.enrolIntoRoomId === undefined ? null : String(source.enrolIntoRoomId),
  secrets: noSecrets,
  cleared: [],
  fingerprint: undefined,
})

/** The service leaves out slashes at the end of an address. */
const addressOf = ({ url }: Pick<SourceDraft, 'url'>): string => url.trim().replace(/\/+$/, '')

/** Another address deletes the stored secrets and the trusted certificate. [contract 15.secrets] */
export const hasSourceMoved = (draft: SourceDraft, source: Source | undefined): boolean =>
  source !== undefined && addressOf(draft) !== source.url

/** Whether a secret that the source has stays as it is. */
export const keepsSourceSecret = (name: SourceSecretName, draft: SourceDraft, source: Source | undefined): boolean =>
  source?.secrets.includes(name) === true && !hasSourceMoved(draft, source) && !draft.cleared.includes(name)

/** Whether the source can be tested: everything that its type needs has a value. */
export const hasSourceTarget = (type: SourceType, draft: SourceDraft, source?: Source): boolean => {
  const has = (name: SourceSecretName) => draft.secrets[name] !== '' || keepsSourceSecret(name, draft, source)
  if (draft.gatewayId === null || addressOf(draft) === '') return false
  if (type === 'neat-pulse') return draft.orgId.trim() !== '' && has('key')
  return (draft.clientCertificate.trim() !== '') === has('clientKey')
}

/** Whether two drafts lead to the same system in the same way, so a test of one counts for the other. */
export const isSameSourceTarget = (a: SourceDraft, b: SourceDraft): boolean => {
  const keyOf = ({ name: _, enrolIntoRoomId: __, write: ___, ...target }: SourceDraft) => JSON.stringify(target)
  return keyOf(a) === keyOf(b)
}

/** A certificate is trusted for one address only. */
export const withoutOtherCertificate = (before: SourceDraft, after: SourceDraft): SourceDraft =>
  addressOf(before) === addressOf(after) ? after : { ...after, fingerprint: undefined }

type SourceBody = Omit<CallInput<'sourcesTest'>['body'], 'sourceId' | 'type' | 'gatewayId'>

/** Without empty secrets: they keep what is stored. Any other empty field is cleared. */
function targetBody(type: SourceType, draft: SourceDraft): SourceBody {
  const secretNames = type === 'neat-pulse' ? (['key'] as const) : (['secret', 'clientKey'] as const)
  const secrets = secretNames.flatMap((name): [SourceSecretName, string | null][] => {
    const text = draft.secrets[name]
    if (draft.cleared.includes(name)) return [[name, null]]
    return text === '' ? [] : [[name, text]]
  })
  const shared = {
    url: addressOf(draft),
    authority: textOrNull(draft.authority),
    ...Object.fromEntries(secrets),
    ...(draft.fingerprint !== undefined && { fingerprint: draft.fingerprint }),
  }
  if (type === 'neat-pulse') return { ...shared, orgId: draft.orgId.trim(), write: draft.write }
  const topics = draft.topics
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  return {
    ...shared,
    username: textOrNull(draft.username),
    topics: topics.length > 0 ? topics : null,
    clientCertificate: textOrNull(draft.clientCertificate),
    enrolIntoRoomId: draft.enrolIntoRoomId === null ? null : Number(draft.enrolIntoRoomId),
  }
}

const textOrNull = (text: string): string | null => text.trim() || null

export const sourceCreateBody = (type: SourceType, draft: SourceDraft): CallInput<'sourcesCreate'>['body'] => ({
  type,
  gatewayId: draft.gatewayId ?? '',
  ...(draft.name.trim() !== '' && { name: draft.name.trim() }),
  ...targetBody(type, draft),
})

/** The gateway of a source stays the same. */
export const sourceUpdateBody = (source: Source, draft: SourceDraft): CallInput<'sourcesUpdate'>['body'] => ({
  ...(draft.name.trim() !== '' && { name: draft.name.trim() }),
  ...targetBody(source.type, draft),
})

/** The service tries stored secrets at the stored address only. */
export const sourceTestBody = (
  type: SourceType,
  draft: SourceDraft,
  source?: Source,
): CallInput<'sourcesTest'>['body'] => ({
  ...(source ? { sourceId: source.id } : { type, gatewayId: draft.gatewayId ?? '' }),
  ...targetBody(type, draft),
})
