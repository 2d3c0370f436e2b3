// The settings and secrets of a channel, as they are stored. [contract 10.channel]

import { randomBytes } from 'node:crypto'
import { defaultChannelEvents, peopleChannelEvents } from '../../contract/channels/messages.ts'
import type { WeeklyHours } from '../../contract/weekly-hours.ts'
import type { Secrets } from '../core/secrets.ts'
import type { MessageFilter } from '../journal/outbox/filter.ts'

/** Nothing in here is secret. */
export interface ChannelSettings extends MessageFilter {
  /** The addresses of an e-mail channel. */
  readonly to?: readonly string[]
  readonly hours?: WeeklyHours
  readonly heartbeatMinutes?: number
}

export interface SigningSecret {
  /** `whsec_…`. */
  readonly secret: string
  /** A secret that was replaced signs until this time. */
  readonly until?: number
}

export interface ChannelSecrets {
  readonly url?: string
  readonly routingKey?: string
  /** A webhook has them, the present secret first. */
  readonly signing?: readonly SigningSecret[]
}

export const defaultChannelSettings: ChannelSettings = {
  events: defaultChannelEvents,
  minSeverity: 'WARNING',
  rules: [],
  regionIds: [],
  locationIds: [],
}

/** A message to one person is about something that a person did, however bad the incident is. */
export const defaultPeopleSettings: ChannelSettings = {
  ...defaultChannelSettings,
  events: peopleChannelEvents,
  minSeverity: 'INFO',
}

const signingSecretBytes = 32

/** The form of Standard Webhooks 1.0. */
export const makeSigningSecret = (): string => `whsec_${randomBytes(signingSecretBytes).toString('base64')}`

interface SealedRow {
  readonly org: number
  readonly id: number
  readonly secrets: Buffer
}

export const sealChannelSecrets = (
  secrets: Secrets,
  { org, id }: Omit<SealedRow, 'secrets'>,
  values: ChannelSecrets,
): Buffer => secrets.seal(JSON.stringify(values), channelContext(org, id))

export const channelSecretsOf = (secrets: Secrets, { org, id, secrets: sealed }: SealedRow): ChannelSecrets =>
  JSON.parse(secrets.unseal(sealed, channelContext(org, id)))

export const channelSettingsOf = ({ settings }: { readonly settings: string }): ChannelSettings => JSON.parse(settings)

export const channelContext = (org: number, id: number) => `channel ${id} of organisation ${org}`
