// Reasons for which the service refuses or ends a connection, with their codes in MQTT 3.1.1 and MQTT 5.
import { keepAliveSeconds } from '../../../../contract/device/protocol.ts'

/** Reason codes of MQTT 5, section 2.4. */
export const reasonCodes = {
  success: 0x00,
  noSubscriptionExisted: 0x11,
  malformedPacket: 0x81,
  protocolError: 0x82,
  implementationSpecific: 0x83,
  unsupportedVersion: 0x84,
  notAuthorized: 0x87,
  serverUnavailable: 0x88,
  serverBusy: 0x89,
  shuttingDown: 0x8b,
  badAuthenticationMethod: 0x8c,
  keepAliveTimeout: 0x8d,
  /** The specification's name for `replaced`. */
  sessionTakenOver: 0x8e,
  topicNameInvalid: 0x90,
  topicAliasInvalid: 0x94,
  packetTooLarge: 0x95,
  quotaExceeded: 0x97,
  administrativeAction: 0x98,
  payloadFormatInvalid: 0x99,
  sharedSubscriptionsNotSupported: 0x9e,
  connectionRateExceeded: 0x9f,
  subscriptionIdentifiersNotSupported: 0xa1,
} as const
export type ReasonCode = (typeof reasonCodes)[keyof typeof reasonCodes]

interface Refusal {
  /** The return code of CONNACK in MQTT 3.1.1. */
  readonly returnCode: number
  readonly reasonCode: ReasonCode
  /** The reason string of MQTT 5. */
  readonly text: string
}

const { min, max } = keepAliveSeconds

/** The reasons for which a CONNECT is refused. */
export const refusals = {
  'unsupported version': {
    returnCode: 1,
    reasonCode: reasonCodes.unsupportedVersion,
    text: 'This version of MQTT is not supported.',
  },
  'unacceptable keep-alive': {
    returnCode: 2,
    reasonCode: reasonCodes.implementationSpecific,
    text: `The keep-alive must be from ${min} to ${max} seconds.`,
  },
  busy: { returnCode: 3, reasonCode: reasonCodes.serverBusy, text: 'The service is busy. Try again later.' },
  'try later': {
    returnCode: 3,
    reasonCode: reasonCodes.serverUnavailable,
    text: 'The service cannot accept the connection now. Try again later.',
  },
  'too often': {
    returnCode: 3,
    reasonCode: reasonCodes.connectionRateExceeded,
    text: 'The device connects too often. Wait longer before each attempt.',
  },
  'bad messages': {
    returnCode: 3,
    reasonCode: reasonCodes.quotaExceeded,
    text: 'The device sent too many bad messages. Try again in a minute.',
  },
  'unknown credential': {
    returnCode: 5,
    reasonCode: reasonCodes.notAuthorized,
    text: 'The service does not know this endpoint ID with this credential. Keep them and try again later.',
  },
} as const satisfies Record<string, Refusal>
export type RefusalReason = keyof typeof refusals

/** Accepted; or refused; or accepted only to send a last message to a device whose endpoint was unenrolled. */
export type ConnectOutcome = 'accepted' | RefusalReason | { readonly topic: string; readonly lastMessage: string }

/** The reasons for which the service ends a connection that it had accepted. */
export const endings = {
  replaced: { reasonCode: reasonCodes.sessionTakenOver, text: 'Another connection of this device replaces this one.' },
  unenrolled: { reasonCode: reasonCodes.administrativeAction, text: 'The endpoint was unenrolled.' },
  released: { reasonCode: reasonCodes.administrativeAction, text: 'The device was removed from its gateway.' },
  'database away': {
    reasonCode: reasonCodes.serverUnavailable,
    text: 'The service cannot reach its database. Connect again later.',
  },
  'shutting down': { reasonCode: reasonCodes.shuttingDown, text: 'The service is stopping. Connect again later.' },
} as const
export type EndingReason = keyof typeof endings
