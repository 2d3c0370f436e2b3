// Checks the properties of MQTT 5 packets that mqtt-packet lets pass: those of another packet, and those that come twice.
import type { IConnectPacket, IPublishPacket } from 'mqtt-packet'
import { ProtocolError } from './protocol-error.ts'
import { reasonCodes } from './reasons.ts'

/** Section 2.2.2.2 of MQTT 5, for packets that a device may send. User properties are allowed everywhere, and ignored. */
const allowed = {
  connect: [
    'sessionExpiryInterval',
    'receiveMaximum',
    'maximumPacketSize',
    'topicAliasMaximum',
    'requestResponseInformation',
    'requestProblemInformation',
    'authenticationMethod',
    'authenticationData',
  ],
  will: [
    'willDelayInterval',
    'payloadFormatIndicator',
    'messageExpiryInterval',
    'contentType',
    'responseTopic',
    'correlationData',
  ],
  publish: [
    'payloadFormatIndicator',
    'messageExpiryInterval',
    'topicAlias',
    'contentType',
    'responseTopic',
    'correlationData',
  ],
  subscribe: ['subscriptionIdentifier'],
  unsubscribe: [],
  puback: ['reasonString'],
  pubrel: ['reasonString'],
  disconnect: ['sessionExpiryInterval', 'reasonString', 'serverReference'],
} as const satisfies Record<string, readonly string[]>

export function checkProperties(place: keyof typeof allowed, properties: object | undefined): void {
  if (!properties) return
  const names: readonly string[] = allowed[place]
  for (const [name, value] of Object.entries(properties)) {
    if (name === 'userProperties') continue
    if (!names.includes(name)) throw new ProtocolError(`the property ${name} does not belong to ${place}`)
    // mqtt-packet gives -1 or null for a value that ends too early.
    if (value === -1 || value === null || value === undefined) throw new ProtocolError(`${name} ends too early`)
    if (Array.isArray(value)) throw new ProtocolError(`${name} comes twice`, reasonCodes.protocolError)
  }
}

export function checkConnectProperties({ properties, will }: IConnectPacket): void {
  checkProperties('connect', properties)
  checkProperties('will', will?.properties)
  const { receiveMaximum, maximumPacketSize, authenticationMethod, authenticationData } = properties ?? {}
  if (receiveMaximum === 0) throw new ProtocolError('receiveMaximum is 0', reasonCodes.protocolError)
  if (maximumPacketSize === 0) throw new ProtocolError('maximumPacketSize is 0', reasonCodes.protocolError)
  if (authenticationMethod !== undefined) {
    const advice = 'a device authenticates with user name and password only'
    throw new ProtocolError(advice, reasonCodes.badAuthenticationMethod)
  }
  if (authenticationData !== undefined) {
    throw new ProtocolError('authenticationData comes without authenticationMethod', reasonCodes.protocolError)
  }
}

export function checkPublishProperties({ topic, properties }: IPublishPacket): void {
  checkProperties('publish', properties)
  if (properties?.topicAlias !== undefined) {
    throw new ProtocolError('topic aliases are not supported', reasonCodes.topicAliasInvalid)
  }
  if (topic === '') throw new ProtocolError('a topic is empty', reasonCodes.protocolError)
}
