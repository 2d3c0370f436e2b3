// Uplinks of LoRaWAN servers: The Things Stack v3 and ChirpStack v4, with a payload that the server has decoded.
import { isJsonObject, type Json, type JsonMap, keyOf, textKeyOf } from './limited-json.ts'

export interface Uplink {
  /** The EUI in upper case, or else the device's identifier at the server. */
  readonly device: string
  readonly eui?: string | undefined
  readonly name?: string | undefined
  /** Device profile, or brand and model, as the server has them. */
  readonly profile?: string | undefined
  /** Two messages with the same text are one uplink: it was sent again, or several radio gateways received it. */
  readonly uplinkId?: string | undefined
  readonly receivedAt?: string | undefined
  /** Undefined without a decoder for the device. */
  readonly decoded?: JsonMap | undefined
  /** A person sent it from the server's own console. */
  readonly isSimulated: boolean
}

/** Undefined if the message is no uplink of this server. */
export const uplinkOf = (format: 'things-stack' | 'chirpstack', message: Json | undefined): Uplink | undefined =>
  format === 'things-stack' ? thingsStackUplink(message) : chirpStackUplink(message)

function thingsStackUplink(message: Json | undefined): Uplink | undefined {
  const ids = keyOf(message, 'end_device_ids')
  const uplink = keyOf(message, 'uplink_message')
  const eui = textKeyOf(ids, 'dev_eui')?.toUpperCase()
  const deviceId = textKeyOf(ids, 'device_id')
  const device = eui ?? deviceId
  if (device === undefined || !isJsonObject(uplink)) return undefined
  const version = keyOf(uplink, 'version_ids')
  const profile = ['brand_id', 'model_id'].flatMap((key) => textKeyOf(version, key) ?? []).join(' ')
  const frame = keyOf(uplink, 'f_cnt')
  return {
    device,
    eui,
    name: deviceId,
    profile: profile || undefined,
    // Zero fields are absent: the first frame of a session has no f_cnt.
    uplinkId: textKeyOf(uplink, 'session_key_id') && `${textKeyOf(uplink, 'session_key_id')} ${frame ?? 0}`,
    receivedAt: textKeyOf(uplink, 'received_at') ?? textKeyOf(message, 'received_at'),
    decoded: decodedOf(uplink, 'decoded_payload'),
    isSimulated: keyOf(message, 'simulated') === true,
  }
}

function chirpStackUplink(message: Json | undefined): Uplink | undefined {
  const info = keyOf(message, 'deviceInfo')
  const eui = textKeyOf(info, 'devEui')?.toUpperCase()
  if (eui === undefined) return undefined
  return {
    device: eui,
    eui,
    name: textKeyOf(info, 'deviceName'),
    profile: textKeyOf(info, 'deviceProfileName'),
    uplinkId: textKeyOf(message, 'deduplicationId'),
    receivedAt: textKeyOf(message, 'time'),
    decoded: decodedOf(message, 'object'),
    isSimulated: false,
  }
}

function decodedOf(from: Json | undefined, key: string): JsonMap | undefined {
  const decoded = keyOf(from, key)
  return isJsonObject(decoded) ? decoded : undefined
}
