// Writes packets to devices with mqtt-packet.
import { generate, writeToStream } from 'mqtt-packet'
import type { RefusalReason } from './admission.ts'

// The cache holds a buffer for every number up to 65,535: several MiB for two bytes in a packet.
writeToStream.cacheNumbers = false

export type Acknowledgement = 'puback' | 'pubrec' | 'pubcomp'

/** Return codes of CONNACK in MQTT 3.1.1. Only on 5 does a device delete its identity. */
const returnCodes: Readonly<Record<'accepted' | RefusalReason, number>> = {
  accepted: 0,
  'unsupported version': 1,
  'unacceptable keep-alive': 2,
  'try later': 3,
  'dead credential': 5,
}

/** Sessions are not stored, so the flag "session present" is never set. */
export const connack = (outcome: 'accepted' | RefusalReason): Buffer =>
  generate({ cmd: 'connack', returnCode: returnCodes[outcome], sessionPresent: false })

export const pingresp = (): Buffer => generate({ cmd: 'pingresp' })

export const acknowledgement = (cmd: Acknowledgement, messageId: number): Buffer => generate({ cmd, messageId })

export const suback = (messageId: number, granted: number[]): Buffer => generate({ cmd: 'suback', messageId, granted })

export const unsuback = (messageId: number): Buffer => generate({ cmd: 'unsuback', messageId, granted: [] })

export const publish = (topic: string, payload: string, qos: 0 | 1, messageId: number): Buffer =>
  generate({ cmd: 'publish', topic, payload, qos, messageId, dup: false, retain: false })
