// A notification channel as the API returns it, and the words for its kind, its events and its deliveries. [contract 10.channel]
import type { ChannelKind, DeliveryState } from '../../../../contract/channels/channels.ts'
import type { ChannelEvent, MessageType } from '../../../../contract/channels/messages.ts'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'

export type ListedChannel = ResponseOf<Operations['channelsList']>['channels'][number]
export type ListedDelivery = ResponseOf<Operations['deliveriesList']>['deliveries'][number]

export const kindNames: Readonly<Record<ChannelKind, string>> = {
  webhook: 'Webhook',
  email: 'E-mail',
  teams: 'Microsoft Teams',
  slack: 'Slack',
  pagerduty: 'PagerDuty',
}

const eventNames: Readonly<Record<ChannelEvent, string>> = {
  'incident.opened': 'Incident opened',
  'incident.changed': 'Incident changed',
  'incident.acknowledged': 'Incident acknowledged',
  'incident.resolved': 'Incident resolved',
  'incident.reopened': 'Incident reopened',
  'endpoint.connected': 'Device connected',
  'endpoint.disconnected': 'Device disconnected',
  'endpoint.enrolled': 'Device enrolled',
  'endpoint.removed': 'Device removed',
  'operation.finished': 'Operation finished',
  'config.delivered': 'Settings delivered',
  'config.failed': 'Settings rejected',
  'job.started': 'Job started',
  'job.paused': 'Job paused',
  'job.stopped': 'Job stopped',
  'job.resumed': 'Job resumed',
  'job.ended': 'Job ended',
  'audit.entry': 'Audit log entry',
  'report.month': 'Monthly report',
}
/** The report of a month goes to e-mail channels only. */
export const canChoose = (kind: ChannelKind, event: string): boolean => event !== 'report.month' || kind === 'email'
export const eventChoices = (kind: ChannelKind) =>
  Object.entries(eventNames).flatMap(([value, label]) => (canChoose(kind, value) ? [{ value, label }] : []))

export const messageNames: Readonly<Record<MessageType, string>> = {
  ...eventNames,
  'incident.digest': 'Digest of incidents',
  heartbeat: 'Heartbeat',
  test: 'Test message',
}

export const deliveryStateNames: Readonly<Record<DeliveryState, string>> = {
  WAITING: 'Waiting',
  DELIVERED: 'Delivered',
  GIVEN_UP: 'Given up',
  CANCELLED: 'Cancelled',
}

/** The address of a channel, with its secret parts masked. */
export const targetText = ({ url, to, routingKey }: ListedChannel): string => to?.join(', ') ?? url ?? routingKey ?? ''
