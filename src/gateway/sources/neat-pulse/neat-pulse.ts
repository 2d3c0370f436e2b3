// The source driver for Neat Pulse: its devices are mirrored here, and nothing is changed there unless the source says so.
import type { SourceDriver } from '../source.ts'
import { PulseSession, type PulseTimes, usualPulseTimes } from './pulse-session.ts'

/** Tests have shorter times. */
export const neatPulseWith = (times: PulseTimes): SourceDriver => ({
  open: (settings, context) => PulseSession.open(settings, context, times),
})

export const neatPulse: SourceDriver = neatPulseWith(usualPulseTimes)
