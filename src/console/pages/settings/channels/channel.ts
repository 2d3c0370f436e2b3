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
  people: 'E-mail to assignees',
}

const eventNames: Readonly<Record<ChannelEvent, string>> = {
  'incident.opened': 'Incident opened',
  'incident.changed': 'Incident changed',
  'incident.acknowledged': 'Incident acknowledged',
  'incident.resolved': 'Incident resolved',
  'incident.reopened': 'Incident reopened',
  'incident.assigned': 'Incident assigned',
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
/** The report of a month goes to e-mail channels only, and an assignment to people only. */
export const canChoose = (kind: ChannelKind, event: string): boolean => {
  if (kind === 'people' || event === 'incident.assigned') return kind === 'people' && event === 'incident.assigned'
  return event !== 'report.month' || kind === 'email'
}
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

/** The receiver of a channel, with the secret parts of addresses masked. */
export const targetText = ({ kind, url, to, routingKey }: ListedChannel): string =>
  to?.join(', ') ?? url ?? routingKey ?? (kind === 'people' ? 'The assignee of each incident' : '')
