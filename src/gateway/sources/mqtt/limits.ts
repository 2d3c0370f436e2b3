// Times and bounds of an MQTT source. Whatever a broker sends, these limit memory, processor time and what the server gets.
import { dayMs, hourMs, minuteMs, secondMs } from '../../../contract/durations.ts'
import { maxSourceDevices } from '../../../contract/fleet/sources.ts'

export interface MqttLimits {
  readonly connectMs: number
  readonly keepaliveSeconds: number
  /** A broker has sent its retained messages when none has come for this long, or at the latest after `settleAtMostMs`. */
  readonly settleMs: number
  readonly settleAtMostMs: number
  readonly tickMs: number
  /** A device without an availability topic of its own and without `expire_after` is offline after this silence. */
  readonly silentAfterMs: number
  /** An entity or device that vanished can be published again, such as after a rename. */
  readonly vanishedAfterMs: number
  readonly occupiedEveryMs: number
  readonly othersEveryMs: number
  readonly othersForMs: number
  /** New devices are reported together. */
  readonly foundAfterMs: number
  /** The latest values and message of a device that was found are reported this often. */
  readonly valuesEveryMs: number
  readonly readingsEveryMs: number
  readonly saveEveryMs: number
  readonly maxPacketBytes: number
  readonly maxMessagesPerSecond: number
  readonly maxDevices: number
  readonly maxTopics: number
}

export const usualMqttLimits: MqttLimits = {
  connectMs: 10 * secondMs,
  keepaliveSeconds: 30,
  settleMs: 300,
  settleAtMostMs: 5 * secondMs,
  tickMs: secondMs,
  silentAfterMs: dayMs + hourMs,
  vanishedAfterMs: 10 * secondMs,
  occupiedEveryMs: minuteMs,
  othersEveryMs: 5 * minuteMs,
  othersForMs: hourMs,
  foundAfterMs: 2 * secondMs,
  valuesEveryMs: 5 * minuteMs,
  readingsEveryMs: 5 * minuteMs,
  saveEveryMs: 10 * minuteMs,
  maxPacketBytes: 256 * 1024,
  maxMessagesPerSecond: 2000,
  maxDevices: maxSourceDevices,
  maxTopics: 20_000,
}

/** Entities of one device that are read; a person's dashboard of a device rarely has more than 40. */
export const maxChannelsPerDevice = 64
/** The last message is shown beside the form of a mapping. */
export const maxLastMessageCharacters = 4096
export const maxTopicCharacters = 255
