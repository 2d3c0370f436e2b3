// Ends connections one after the other when a node stops: devices that all came to the other nodes at the same time would have to wait there.
import { setTimeout as sleep } from 'node:timers/promises'
import type { MqttSession } from './session/session.ts'

/** A few devices need not wait for half a minute. */
const minPerSecond = 100
const intervalMs = 50

/** The time that it takes grows with the number of sessions, up to `maxMs`. */
export async function shutDownInTurn(sessions: readonly MqttSession[], maxMs: number): Promise<void> {
  const durationMs = Math.min(maxMs, (sessions.length / minPerSecond) * 1000)
  const startedAt = performance.now()
  for (let ended = 0; ended < sessions.length; ) {
    const part = durationMs === 0 ? 1 : (performance.now() - startedAt) / durationMs
    const due = Math.min(sessions.length, Math.ceil(part * sessions.length))
    for (const session of sessions.slice(ended, due)) session.close('shutting down')
    ended = Math.max(ended, due)
    if (ended < sessions.length) await sleep(intervalMs)
  }
}
