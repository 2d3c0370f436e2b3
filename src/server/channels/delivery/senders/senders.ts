// The function that sends a message, for each kind of channel.
import type { ChannelKind } from '../../../../contract/channels/channels.ts'
import { sendMail, sendMailToPerson } from './email.ts'
import { sendToPagerDuty } from './pagerduty.ts'
import type { MessageSender } from './sender.ts'
import { sendToSlack } from './slack.ts'
import { sendToTeams } from './teams.ts'
import { sendWebhook } from './webhook.ts'

export const senders: Readonly<Record<ChannelKind, MessageSender>> = {
  webhook: sendWebhook,
  email: sendMail,
  teams: sendToTeams,
  slack: sendToSlack,
  pagerduty: sendToPagerDuty,
  people: sendMailToPerson,
}
