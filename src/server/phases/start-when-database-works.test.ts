// Tests how often a start is made again that the database left without an answer. disk-full.process.test.ts is about full disks.
import { expect, test } from 'vitest'
import type { ServeOptions } from '../config/server-options.ts'
import { makeLog } from '../core/log.ts'
import { timeLimits } from '../core/time-limits.ts'
import { databaseFailure } from '../db/errors.ts'
import { startWhenDatabaseWorks } from './start-when-database-works.ts'

/** The first starts fail with these errors. */
function startsAfter(errors: readonly Error[]) {
  let starts = 0
  const when = { stop: new AbortController().signal, limits: timeLimits }
  return startWhenDatabaseWorks({} as ServeOptions, makeLog('silent'), when, async () => {
    const error = errors[starts++]
    if (error) throw error
    return starts
  })
}
const outage = () => databaseFailure('unreachable', false)

test('a start that the database leaves without an answer is made again, twice', async () => {
  expect(await startsAfter([outage(), outage()])).toBe(3)
  await expect(startsAfter([outage(), outage(), outage()])).rejects.toThrow(
    'The database does not answer. Start the server again when it does.',
  )
})

test('another failure ends the start', async () => {
  await expect(startsAfter([new Error('The port is taken.')])).rejects.toThrow('The port is taken.')
})
