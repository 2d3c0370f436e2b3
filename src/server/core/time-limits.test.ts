// The time limits: their true values are those of the documents, and short ones for tests keep their order.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { StartupError } from './failure.ts'
import { scaleTimeLimits, type TimeLimits, timeLimits, timeLimitTable } from './time-limits.ts'

const readDocument = (name: string) => readFileSync(new URL(`../../../docs/${name}`, import.meta.url), 'utf8')
const contract = readDocument('contract.md')

/** The text of a section, up to the next one. */
function sectionOf(id: string): string {
  const start = contract.indexOf(`**[contract ${id}]**`)
  expect(start, `the contract has a section ${id}`).toBeGreaterThan(-1)
  const end = contract.indexOf('\n**[contract ', start)
  return contract.slice(start, end === -1 ? undefined : end)
}

interface StatedLimit {
  readonly ms: number
  readonly contract?: string
  readonly contractSeconds?: readonly number[]
}

const stated = Object.entries<StatedLimit>(timeLimitTable).filter(([, limit]) => limit.contract !== undefined)

test.each(stated)('%s is what the contract says', (_name, { ms, contract: id = '', contractSeconds }) => {
  const section = sectionOf(id)
  for (const seconds of contractSeconds ?? [ms / 1000]) {
    expect(section, `${id} says ${seconds} s`).toMatch(new RegExp(`(?<![\\d.,])${seconds} s(econds)?\\b`))
  }
  // A promise may include the time in which the end is noticed, but is never shorter than the limit itself.
  for (const seconds of contractSeconds ?? []) expect(seconds).toBeGreaterThanOrEqual(ms / 1000)
})

test.each<[keyof TimeLimits, string, RegExp]>([
  ['mqttConnectMs', 'device-protocol.md', /CONNECT must arrive within (\d+) seconds/],
  ['storeOutageMs', 'device-protocol.md', /the service cannot reach its database for (\d+) seconds/],
  ['outboundRequestMs', 'channels.md', /Answer with any 2xx within (\d+) s/],
  ['inviteMailMs', 'channels.md', /the SMTP server took the mail within (\d+) s/],
  ['mailMs', 'channels.md', /Sending a mail times out after (\d+) s/],
  ['databaseConnectMs', 'operations.md', /\| (\d+) s \| to get a connection/],
  ['databaseStatementMs', 'operations.md', /PostgreSQL gives it up after (\d+) /],
  ['databaseAnswerMs', 'operations.md', /`statement_timeout`\), the server after (\d+)\./],
  ['writeTurnMs', 'operations.md', /\| (\d+) s \| to wait for a lock/],
  ['ownMessageMs', 'operations.md', /\| (\d+) s \| for the session that holds the locks/],
  ['requestDrainMs', 'operations.md', /requests under way are finished \(for up to (\d+) seconds\)/],
  ['unlockedNodeMs', 'nodes.md', /after (\d+) seconds without a heartbeat, if PostgreSQL has released the lock/],
  ['lockedNodeMs', 'nodes.md', /after (\d+) seconds without a heartbeat in any case/],
  ['ownBeatsMs', 'nodes.md', /only after its own heartbeat has worked for (\d+) seconds/],
  ['idleTransactionMs', 'nodes.md', /is ended by PostgreSQL after (\d+) seconds/],
  ['nodeRelockMs', 'nodes.md', /nodes (\d+) seconds to connect again/],
])('%s is what %s says', (name, document, sentence) => {
  expect(Number(sentence.exec(readDocument(document))?.[1]) * 1000).toBe(timeLimits[name])
})

test.each([1, 0.5, 0.1, 0.01])(
  'limits scaled by %d are at least 2 s, no longer than the true ones, and in the same order',
  (factor) => {
    const scaled = Object.entries(scaleTimeLimits(factor)) as [keyof TimeLimits, number][]
    for (const [name, ms] of scaled) {
      expect(ms, name).toBeGreaterThanOrEqual(2_000)
      expect(ms, name).toBeLessThanOrEqual(timeLimits[name])
      for (const [other, otherMs] of scaled) {
        expect(Math.sign(ms - otherMs), `${name}, ${other}`).toBe(Math.sign(timeLimits[name] - timeLimits[other]))
      }
    }
  },
)

test.each([0, -1, 1.01, 2, Number.NaN, Number.POSITIVE_INFINITY])('a factor of %d is refused', (factor) => {
  expect(() => scaleTimeLimits(factor)).toThrow(StartupError)
})
