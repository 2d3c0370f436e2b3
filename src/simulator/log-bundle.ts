// Makes the log bundle of a simulated device: gzip with typical log lines, and call logs on request.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { hourMs, minuteMs } from '../contract/durations.ts'
import type { FleetDevice } from './plan.ts'
import { isInCall } from './room-day.ts'
import { between, pick, seededRandom } from './seeded-random.ts'

const compress = promisify(gzip)
const lineCount = 1_500
const spanMs = 6 * hourMs

const systemLines: readonly ((at: (salt: number) => number) => string)[] = [
  (at) => `kernel: thermal: zone0 ${between(38, 61, at(1))} C`,
  (at) => `netd: eth0 link up, rx ${between(1e6, 9e8, at(2))} tx ${between(1e6, 9e7, at(3))}`,
  (at) => `audiod: echo canceller converged in ${between(80, 900, at(4))} ms`,
  (at) => `camerad: auto framing, ${between(0, 9, at(5))} faces, ${between(24, 30, at(6))} fps`,
  (at) => `sensord: sample taken in ${between(2, 30, at(7))} ms`,
  (at) => `agent: keep-alive, round trip ${between(1, 80, at(8))} ms`,
  (at) => `ntpd: offset ${(at(9) * 4 - 2).toFixed(3)} ms`,
  (at) => `displayd: panel brightness ${between(30, 100, at(10))}`,
]

export async function makeLogBundle(
  device: FleetDevice,
  { now, inCallLogs, journal }: { now: number; inCallLogs: boolean; journal: readonly string[] },
): Promise<Buffer> {
  const { serial, model, seed, room } = device
  const text = [`device ${serial} model ${model}`, '', '== system.log ==']
  for (let n = 0; n < lineCount; n++) {
    const time = Math.floor((now - spanMs + (n * spanMs) / lineCount) / 1000) * 1000
    const at = (salt: number) => seededRandom(seed, time / 1000, salt)
    text.push(`${logTimestamp(time)} ${at(11) < 0.97 ? 'I' : 'W'} ${pick(systemLines, at(12))(at)}`)
  }
  text.push('', '== agent.log ==', ...journal)
  if (inCallLogs) {
    text.push('', '== calls.log ==')
    for (let time = now - spanMs; time < now; time += minuteMs) {
      if (!isInCall(room, time)) continue
      const at = (salt: number) => seededRandom(seed, Math.floor(time / minuteMs), salt)
      text.push(
        `${logTimestamp(time)} I call: ${room.primaryMode} send ${between(1200, 3800, at(13))} kbit/s, loss ${(at(14) ** 6 * 5).toFixed(2)} %, jitter ${between(1, 28, at(15))} ms`,
      )
    }
  }
  return compress(`${text.join('\n')}\n`)
}

export const logTimestamp = (at: number): string => new Date(at).toISOString()
