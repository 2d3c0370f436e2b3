// The driver for projectors and displays with PJLink: connects, asks and closes, and follows a change of power to its end.
import { type Driver, DriverFailure } from '../../driver.ts'
import { PjlinkLink, pjlinkFailure } from './link.ts'
import { readPjlinkOptions } from './options.ts'
import { PjlinkSession, type SleepMemory } from './session.ts'
import { type PjlinkTimings, usualPjlinkTimings } from './timings.ts'

export function pjlinkDriver(timings: PjlinkTimings = usualPjlinkTimings): Driver {
  /** By address. The service keeps what was reported, so this can be forgotten with the process. */
  const memories = new Map<string, SleepMemory>()
  return {
    async open(item, { network, signal: outerSignal }) {
      const key = `${item.host} ${item.port}`
      const memory = memories.get(key) ?? { leftInStandby: false }
      memories.set(key, memory)
      const options = readPjlinkOptions(item, timings)
      const lifetime = new AbortController()
      const signal = AbortSignal.any([outerSignal, lifetime.signal])
      const link = new PjlinkLink({ item, network, signal, timings, options })
      const session = new PjlinkSession({ link, options, timings, memory, lifetime, signal })
      try {
        await session.start(item.isEnrolled ?? false)
        return session
      } catch (error) {
        session.close()
        throw outerSignal.aborted
          ? new DriverFailure('UNREACHABLE', 'The attempt was ended.')
          : pjlinkFailure(error, true)
      }
    },
  }
}
