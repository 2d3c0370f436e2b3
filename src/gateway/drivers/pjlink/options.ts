// The options of an item of the driver pjlink.
import type { DriverItem } from '../../driver.ts'
import { choiceOption, numberOption, switchOption } from '../item-options.ts'
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

const pollSeconds = { min: 5, max: 3_600, usual: 20 }
const maxGapMs = 500
const hours = { min: 0, max: 100_000, usual: 0 }

export function readPjlinkOptions(item: DriverItem, { pollUnitMs, minGapMs }: PjlinkTimings): PjlinkOptions {
  return {
    // PJLink cannot tell a display from a projector with a laser: neither has a lamp.
    kind: choiceOption(item, 'kind', ['PROJECTOR', 'DISPLAY'], 'PROJECTOR'),
    pollMs: numberOption(item, 'pollSeconds', pollSeconds) * pollUnitMs,
    gapMs: numberOption(item, 'pauseMs', { min: minGapMs, max: maxGapMs, usual: minGapMs }),
    challenge: choiceOption(item, 'challenge', ['auto', 'md5', 'sha256'], 'auto'),
    keepsConnection: switchOption(item, 'keepOpen'),
    lampLifeHours: numberOption(item, 'lampLifeHours', hours),
    filterLifeHours: numberOption(item, 'filterLifeHours', hours),
  }
}
