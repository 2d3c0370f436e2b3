// The source driver for Neat Pulse: its devices are mirrored here, and nothing is changed there unless the source says so.
import type { SourceDriver } from '../source.ts'
import { PulseSession, type PulseTimes, usualPulseTimes } from './pulse-session.ts'
import { RequestPaces } from './request-pace.ts'

/** Tests have shorter times. */
export function neatPulseWith(times: PulseTimes): SourceDriver {
  const paces = new RequestPaces(times.twoWithinMs)
  return { open: (settings, context) => PulseSession.open(settings, context, times, paces) }
}

export const neatPulse: SourceDriver = neatPulseWith(usualPulseTimes)
