// Compares reportsAvailability with a count of seconds that is written apart from it, over generated months of rooms. [contract 16.availability]
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SeededChoices } from '../../../../test/support/endurance/random.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { isLongForm, runCount } from '../../../../test/support/long-form.ts'
import { newPerson } from '../../../../test/support/person.ts'
import { makeWorld, type PastWorld, type PlainRoom } from '../../../../test/support/reports/past-world.ts'
import { PlainPast, type PlainRequest, type PlainRow } from '../../../../test/support/reports/plain-availability.ts'
import { putWorld } from '../../../../test/support/reports/world-rows.ts'
import type { AvailabilityPeriod, AvailabilityRow } from '../../../contract/reports/availability.ts'
import { type Weekday, weekdays } from '../../../contract/weekly-hours.ts'
import { excludableClasses } from '../../../insight/availability.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness({}, { taskPauseShare: 500 })
})
afterAll(() => harness.close())

const [secondMs, dayMs, daySeconds] = [1000, 86_400_000, 86_400]
/** Months in which most clocks change, north and south. */
const months = [Date.UTC(2026, 2), Date.UTC(2026, 9), Date.UTC(2026, 3)]
const roomsPerWorld = runCount({ short: 5, full: 6, long: 10 })
const worlds = runCount({ short: 1, full: 10, long: 1000 })
const requestsPerWorld = 4

interface Asked {
  readonly query: Record<string, string | number>
  readonly hours: PlainRequest['hours']
  readonly ignoreUnderSeconds: number
  readonly excluded: ReadonlySet<string>
  /** A window of dates is one of each time zone. */
  readonly window: { readonly dates: readonly [string, string] } | { readonly from: number; readonly to: number }
}

const text = (minutes: number) =>
  `${String(Math.floor(minutes / 60) % 24).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`

function askedOf(random: SeededChoices, world: PastWorld): Asked {
  const { monthStart } = world
  const date = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const kind = random.below(8)
  const start = monthStart / secondMs + random.below(28 * daySeconds)
  const dates: Asked['window'] = { dates: [date(monthStart), date(monthStart + 31 * dayMs)] }
  const window: Asked['window'] =
    kind < 5
      ? dates
      : kind === 5
        ? { from: start, to: start + 60 }
        : { from: start, to: start + random.below(9 * daySeconds) }
  const days = weekdays.filter(() => random.below(2) === 0)
  const chosen: readonly Weekday[] = days.length > 0 ? days : ['wed']
  const [a, b] = [random.below(96) * 15, random.below(96) * 15]
  const hours = random.below(3) === 0 ? undefined : { from: a, to: b > a ? b : b + 1440, days: chosen }
  const excluded =
    random.below(2) === 0 ? [...excludableClasses] : excludableClasses.filter(() => random.below(2) === 0)
  const ignoreUnderMinutes = random.below(2) === 0 ? 5 : random.below(60)
  const times =
    'dates' in window ? window.dates : [window.from, window.to].map((s) => new Date(s * secondMs).toISOString())
  return {
    query: {
      ...{ from: times[0] as string, to: times[1] as string, ignoreUnderMinutes, pageSize: 1000 },
      ...(hours ? { hours: `${text(hours.from)}-${text(hours.to)}`, days: chosen.join() } : { hours: 'always' }),
      exclude: excluded.length === 0 ? 'none' : excluded.join(),
    },
    hours,
    ignoreUnderSeconds: ignoreUnderMinutes * 60,
    excluded: new Set(excluded),
    window,
  }
}

const pathOf = (query: Asked['query']) =>
  `/reports/availability?${new URLSearchParams(Object.entries(query).map(([k, v]): [string, string] => [k, String(v)]))}`
async function ask(org: TestOrg, query: Asked['query'], key?: string) {
  const reply = await org.call('GET', pathOf(query), { ...(key !== undefined && { key }) })
  expect(reply.status, reply.text).toBe(200)
  return reply.body as { rows: AvailabilityRow[]; periods?: AvailabilityPeriod[] }
}

/** The row of a room as the plain count has it. */
const shownRow = ({ counts, impaired, outages, longest }: PlainRow) => ({
  ...Object.fromEntries(Object.entries(counts).map(([name, seconds]) => [`${name}Seconds`, seconds])),
  impairedSeconds: impaired,
  outages,
  longestOutageSeconds: longest,
})

function requestOf(past: PlainPast, world: PastWorld, room: PlainRoom, asked: Asked, retainedFrom: number) {
  const { hours, ignoreUnderSeconds, excluded, window } = asked
  const { zone } = world.locations.find(({ id }) => id === room.location) as PastWorld['locations'][number]
  const midnight = (date: string) => {
    const { shown, firstMinute } = past.clockOf(zone)
    return (firstMinute + shown.findIndex((minute) => minute >= Date.parse(date) / 60_000)) * 60
  }
  const [from, to] = 'dates' in window ? window.dates.map(midnight) : [window.from, window.to]
  return { from: from as number, to: to as number, hours, ignoreUnderSeconds, excluded, retainedFrom }
}

test(
  'rows of generated months equal a count of their seconds; places have the sums of their rooms; a restricted caller has the subset; periods add up',
  async () => {
    const seen: Record<string, number> = {}
    let compared = 0
    const offset = isLongForm ? Math.floor(Math.random() * 1e6) : 0
    for (let i = 0; i < worlds; i++) {
      const random = new SeededChoices(7000 + offset + i)
      const monthStart = months[i % months.length] as number
      // Some reports are asked for within the month: its rest is the future.
      const now = monthStart + (i % 4 === 3 ? 20 : 36) * dayMs + 437
      harness.clock.fix(now)
      const org = await harness.newOrg(`World ${offset + i}`)
      const world = makeWorld(offset + i + 1, monthStart, now, roomsPerWorld)
      await putWorld(harness, org, world)
      const retainedFrom =
        Math.ceil((now - harness.services.settings.rollupRetentionSeconds * secondMs) / dayMs) * dayMs
      const past = new PlainPast(world, monthStart / secondMs - 2 * daySeconds, monthStart / secondMs + 42 * daySeconds)
      const all = Array.from({ length: requestsPerWorld }, () => askedOf(random, world))
      const answers: AvailabilityRow[][] = []
      for (const { query } of all) answers.push((await ask(org, query)).rows)
      for (const room of world.rooms) {
        const requests = all.map((asked) => requestOf(past, world, room, asked, retainedFrom))
        for (const [n, expected] of past.rows(room, requests).entries()) {
          const isListed = room.deletedAt === undefined || room.deletedAt / secondMs > (requests[n]?.from as number)
          const found = answers[n]?.find((row) => row.room?.id === room.id)
          const place = `room ${room.id} of world ${offset + i}: ${JSON.stringify(all[n]?.query)}`
          expect(found !== undefined, place).toBe(isListed)
          if (!found) continue
          compared++
          const row = shownRow(expected)
          expect(found, place).toMatchObject(row)
          for (const [name, value] of Object.entries(row)) if (value > 0) seen[name] = (seen[name] ?? 0) + 1
        }
      }
      const [asked, rows] = [all[0] as Asked, answers[0] as AvailabilityRow[]]
      await compareGroups(org, asked, rows)
      await compareSubset(org, asked, world, rows)
      await comparePeriods(org, asked, rows[random.below(rows.length)])
      if (isLongForm && (i + 1) % 20 === 0)
        process.stdout.write(
          `${(i + 1) * roomsPerWorld} room-months, seeds from ${offset}: ${compared} rows are equal\n`,
        )
    }
    expect(compared).toBeGreaterThan(worlds * roomsPerWorld * requestsPerWorld * 0.8)
    // Every class occurs.
    expect(Object.keys(seen).sort()).toEqual(
      [...summedKeys, 'longestOutageSeconds'].filter((key) => key !== 'countedSeconds').sort(),
    )
  },
  runCount({ short: 120_000, full: 600_000, long: 10_800_000 }),
)

const summedKeys = [
  ...['countedSeconds', 'notKnownSeconds', 'silencedSeconds', 'changeWindowSeconds', 'upSeconds', 'serviceSeconds'],
  ...['unknownSeconds', 'asleepSeconds', 'shortSeconds', 'chargedSeconds', 'impairedSeconds', 'outages'],
] as const
const secondsKeys = summedKeys.filter((key) => key !== 'outages')
type Sums = Record<string, number>
const sumOf = (rows: readonly AvailabilityRow[], keys: readonly (typeof summedKeys)[number][] = summedKeys): Sums =>
  Object.fromEntries(keys.map((key) => [key, rows.reduce((sum, row) => sum + row[key], 0)]))

/** The sums over locations and regions are those over their rooms. An outage in several days is in each of them. */
async function compareGroups(org: TestOrg, asked: Asked, rows: readonly AvailabilityRow[]): Promise<void> {
  for (const groupBy of ['location', 'region'] as const) {
    const groups = (await ask(org, { ...asked.query, groupBy })).rows
    expect(groups.length).toBeGreaterThan(0)
    for (const group of groups) {
      const own = rows.filter((row) => row[groupBy]?.id === group[groupBy]?.id)
      expect(sumOf([group])).toEqual(sumOf(own))
      expect(group).toMatchObject({
        rooms: own.length,
        roomsBelowTarget: own.filter(({ isTargetMet }) => isTargetMet === false).length,
        longestOutageSeconds: Math.max(...own.map((row) => row.longestOutageSeconds)),
      })
    }
  }
  for (const groupBy of ['day', 'week'] as const) {
    const groups = (await ask(org, { ...asked.query, groupBy })).rows
    expect(sumOf(groups, secondsKeys)).toEqual(sumOf(rows, secondsKeys))
  }
}

/** A caller who is limited to a region gets the rows of its rooms, and nothing else. */
async function compareSubset(org: TestOrg, asked: Asked, world: PastWorld, rows: readonly AvailabilityRow[]) {
  const region = world.regions[0] as number
  const { key } = await newPerson(harness, org, { role: 'viewer', regionIds: [region] })
  expect((await ask(org, asked.query, key)).rows).toEqual(rows.filter((row) => row.region?.id === region))
}

/** Each figure of a room is the sum of its periods. */
async function comparePeriods(org: TestOrg, asked: Asked, row: AvailabilityRow | undefined): Promise<void> {
  if (!row?.room) return
  const { rows, periods = [] } = await ask(org, { ...asked.query, roomId: row.room.id, periods: 'true' })
  expect(rows).toEqual([row])
  const sums: Sums = {}
  for (const [i, { from, to, class: name, seconds, isImpaired, gapFrom, gapTo }] of periods.entries()) {
    expect((Date.parse(to) - Date.parse(from)) / secondMs).toBe(seconds)
    expect(from >= (periods[i - 1]?.to ?? '')).toBe(true)
    if (gapFrom !== undefined) expect(gapFrom <= from && (gapTo as string) >= to).toBe(true)
    sums[`${name}Seconds`] = (sums[`${name}Seconds`] ?? 0) + seconds
    if (isImpaired) sums.impairedSeconds = (sums.impairedSeconds ?? 0) + seconds
  }
  for (const key of secondsKeys) {
    if (key !== 'countedSeconds') expect(sums[key] ?? 0, key).toBe(row[key])
  }
  const outages = new Set(periods.filter((period) => period.class === 'charged').map(({ gapFrom }) => gapFrom))
  expect(outages.size).toBe(row.outages)
}
