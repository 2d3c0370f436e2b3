// The options of an item of the driver pjlink.
import type { DriverItem } from '../../driver.ts'
import type { ProjectorStatusOptions } from './projector-status.ts'
import type { PjlinkTimings } from './timings.ts'

export interface PjlinkOptions extends ProjectorStatusOptions {
  readonly pollMs: number
  readonly gapMs: number
  /** `auto`: SHA-256 if the projector has it, else MD5. */
  readonly challenge: 'auto' | 'md5' | 'sha256'
  /** Keeps the connection between two polls, for projectors that no other system controls. */
  readonly keepsConnection: boolean
}

const pollSeconds = { least: 5, usual: 20, most: 3_600 } as const
const maxGapMs = 500

export function readPjlinkOptions(options: DriverItem['options'], timings: PjlinkTimings): PjlinkOptions {
  const number = (name: string, least: number, usual: number, most: number) => {
    const value = options[name]
    return Math.min(most, Math.max(least, typeof value === 'number' && Number.isFinite(value) ? value : usual))
  }
  const hours = (name: string) => number(name, 0, 0, Number.MAX_SAFE_INTEGER)
  return {
    // PJLink cannot tell a display from a projector with a laser: neither has a lamp.
    kind: options.kind === 'DISPLAY' ? 'DISPLAY' : 'PROJECTOR',
    pollMs: number('pollSeconds', pollSeconds.least, pollSeconds.usual, pollSeconds.most) * timings.pollUnitMs,
    gapMs: number('pauseMs', timings.minGapMs, timings.minGapMs, maxGapMs),
    challenge: options.challenge === 'md5' || options.challenge === 'sha256' ? options.challenge : 'auto',
    keepsConnection: options.keepOpen === true,
    lampLifeHours: hours('lampLifeHours'),
    filterLifeHours: hours('filterLifeHours'),
  }
}
