// Tests, for all groups of up to two reboots, what a group waits for and which of its reboots are attempted. [contract 12.when]
import { expect, test } from 'vitest'
import { decideGroup, refusedPauseMs, type WaitingReboot } from './decide.ts'

const now = 1_000_000
const flags = [true, false]
const kinds: readonly Omit<WaitingReboot, 'id' | 'waitsFor'>[] = flags.flatMap((isConnected) =>
  flags.flatMap((isAttempted) =>
    [null, now - refusedPauseMs, now - refusedPauseMs + 1].map((refusedAt) => ({
      isConnected,
      isAttempted,
      refusedAt,
    })),
  ),
)

function* groupsOf(size: number): Generator<WaitingReboot[]> {
  if (size === 0) yield []
  else
    for (const rest of groupsOf(size - 1))
      for (const kind of kinds) yield [...rest, { ...kind, id: String(size), waitsFor: null }]
}

test('each reboot is in one list; nothing is sent or skipped unless the rooms allow it; the device that was named is connected', () => {
  let count = 0
  for (const size of [1, 2]) {
    for (const group of groupsOf(size)) {
      for (const isIdle of flags) {
        for (const isInWindow of flags) {
          const { attempted, skipped, waiting } = decideGroup('1', group, { isIdle, isInWindow }, now)
          const byId = new Map(group.map((reboot) => [reboot.id, reboot]))
          const pending = group.filter((reboot) => !reboot.isAttempted).map(({ id }) => id)
          expect([...attempted, ...skipped, ...waiting].every((id) => pending.includes(id))).toBe(true)
          if (!isIdle || !isInWindow) expect([attempted, skipped]).toEqual([[], []])
          const named = byId.get('1')
          if (named && !named.isAttempted && !named.isConnected) expect(attempted).toEqual([])
          for (const id of attempted) {
            expect(byId.get(id)?.isConnected).toBe(true)
            expect((byId.get(id)?.refusedAt ?? 0) + refusedPauseMs).toBeLessThanOrEqual(now)
          }
          for (const id of skipped) expect([byId.get(id)?.isConnected, attempted.length > 0]).toEqual([false, true])
          count++
        }
      }
    }
  }
  expect(count).toBe(4 * (12 + 12 ** 2))
})

test('the first thing that is missing is named: the connection, the window, then the room', () => {
  const reboot = { id: '1', isConnected: false, isAttempted: false, refusedAt: null, waitsFor: null }
  const wait = (isConnected: boolean, isInWindow: boolean, isIdle: boolean) =>
    decideGroup('1', [{ ...reboot, isConnected }], { isIdle, isInWindow }, now)
  expect(wait(false, false, false).waitsFor).toBe('connection')
  expect(wait(true, false, false).waitsFor).toBe('window')
  expect(wait(true, true, false).waitsFor).toBe('idle')
  expect(wait(true, true, true).attempted).toEqual(['1'])
})
