// Compares reportsAvailability and reportsIncidents with plain counts that are written apart from them, over generated months of rooms. [contract 16.availability] [contract 16.incidents]
import type { Static } from 'typebox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SeededChoices } from '../../../../test/support/endurance/random.ts'
import { type Harness, startHarness, type TestOrg } from '../../../../test/support/harness.ts'
import { isLongForm, runCount } from '../../../../test/support/long-form.ts'
import { newPerson } from '../../../../test/support/person.ts'
import { makeWorld, type PastWorld, type PlainRoom } from '../../../../test/support/reports/past-world.ts'
import { PlainPast, type PlainRequest, type PlainRow } from '../../../../test/support/reports/plain-availability.ts'
import { plainIncidents } from '../../../../test/support/reports/plain-incidents.ts'
import { putWorld } from '../../../../test/support/reports/world-rows.ts'
import type { AvailabilityRow, availabilityOperations } from '../../../contract/reports/availability.ts'
import type { incidentReportOperations } from '../../../contract/reports/incidents.ts'
import { type Weekday, weekdays } from '../../../contract/weekly-hours.ts'
import { excludableClasses } from '../../../insight/availability.ts'
import { timeLimits } from '../../core/time-limits.ts'

let harness: Harness
beforeAll(async () => {
  // The plain count of a world takes longer than that on a busy machine, and no request is sent meanwhile.
  const limits = { ...timeLimits, idleConnectionMs: 3_600_000 }
  harness = await startHarness({}, { taskPauseShare: 500, limits })
})
afterAll(() => harness.close())

const [secondMs, dayMs, daySeconds] = [1000, 86_400_000, 86_400]
/** Months in which most clocks change, north and south. Those of America change on 1 November. */
const months = [
  { start: Date.UTC(2026, 2), days: 31 },
  { start: Date.UTC(2026, 9), days: 39 },
  { start: Date.UTC(2026, 3), days: 31 },
] as const
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

function askedOf(random: SeededChoices, world: PastWorld, windowDays: number): Asked {
  const { monthStart } = world
  const date = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  const kind = random.below(8)
  const start = monthStart / secondMs + random.below(28 * daySeconds)
  const dates: Asked['window'] = { dates: [date(monthStart), date(monthStart + windowDays * dayMs)] }
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
  return reply.body as Static<typeof availabilityOperations.reportsAvailability.response>
}

/** The figures of a room as the plain count has them. */
function shownRow({ counts, impaired, outages, longest }: PlainRow, targetPercent: number) {
  const { up = 0, short = 0, charged = 0 } = counts
  const total = up + short + charged
  const millionths = Math.round(((up + short) / total) * 1e6)
  return {
    ...Object.fromEntries(Object.entries(counts).map(([name, seconds]) => [`${name}Seconds`, seconds])),
    countedSeconds: Object.values(counts).reduce((sum, seconds) => sum + seconds, 0),
    ...(total > 0 && { availability: millionths / 1e6, isTargetMet: millionths >= targetPercent * 1e4 }),
    impairedSeconds: impaired,
    outages,
    longestOutageSeconds: longest,
  }
}
type ShownRow = ReturnType<typeof shownRow>

/** The figures of a row, without what it is about. */
function figuresOf({ room, deletedAt, location, region, timezone, tags, capacity, ...figures }: AvailabilityRow) {
  return figures
}

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
    let [compared, longestGapSeconds] = [0, 0]
    const offset = isLongForm ? Math.floor(Math.random() * 1e6) : 0
    for (let i = 0; i < worlds; i++) {
      const random = new SeededChoices(7000 + offset + i)
      const { start: monthStart, days } = months[i % months.length] as (typeof months)[number]
      // Some reports are asked for within the month: its rest is the future.
      const now = monthStart + (i % 4 === 3 ? 20 : 36) * dayMs + 437
      harness.clock.fix(now)
      const org = await harness.newOrg(`World ${offset + i}`)
      const world = makeWorld(offset + i + 1, monthStart, now, roomsPerWorld)
      await putWorld(harness, org, world)
      const target = random.pick([40, 80, 99.5])
      expect((await org.call('PUT', '', { body: { availabilityTarget: target } })).status).toBe(200)
      const retainedFrom =
        Math.ceil((now - harness.services.settings.rollupRetentionSeconds * secondMs) / dayMs) * dayMs
      const past = new PlainPast(world, monthStart / secondMs - 2 * daySeconds, monthStart / secondMs + 42 * daySeconds)
      const all = Array.from({ length: requestsPerWorld }, () => askedOf(random, world, days))
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
          const row: ShownRow = shownRow(expected, target)
          expect(figuresOf(found), place).toEqual(row)
          for (const [name, value] of Object.entries(row)) if (Number(value) > 0) seen[name] = (seen[name] ?? 0) + 1
        }
      }
      const [asked, rows] = [all[0] as Asked, answers[0] as AvailabilityRow[]]
      await compareGroups(org, asked, rows)
      const listed = world.rooms
        .filter(({ id }) => rows.some(({ room }) => room?.id === id))
        .map((room) => ({ room, request: requestOf(past, world, room, asked, retainedFrom) }))
      for (const groupBy of ['day', 'week'] as const) await compareTimes(org, asked, rows, groupBy, past, listed)
      await compareSubset(org, asked, world, rows)
      const gapSeconds = await comparePeriods(org, asked, rows[random.below(rows.length)], world, retainedFrom)
      longestGapSeconds = Math.max(longestGapSeconds, gapSeconds)
      await compareIncidents(org, world, random)
      if (isLongForm && (i + 1) % 20 === 0)
        process.stdout.write(
          `${(i + 1) * roomsPerWorld} room-months, seeds from ${offset}: ${compared} rows are equal\n`,
        )
    }
    expect(compared).toBeGreaterThan(worlds * roomsPerWorld * requestsPerWorld * 0.6)
    // Reports read a day more than their window.
    expect(longestGapSeconds).toBeGreaterThan(3 * daySeconds)
    // Every class occurs.
    expect(Object.keys(seen).sort()).toEqual(
      [...summedKeys, 'longestOutageSeconds', 'availability', 'isTargetMet'].sort(),
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
}

/** The seconds of days and weeks are those of the rooms. Their outages are counted: one in several days is in each of them. */
async function compareTimes(
  org: TestOrg,
  asked: Asked,
  rows: readonly AvailabilityRow[],
  groupBy: 'day' | 'week',
  past: PlainPast,
  rooms: readonly { readonly room: PlainRoom; readonly request: PlainRequest }[],
): Promise<void> {
  const groups = (await ask(org, { ...asked.query, groupBy })).rows
  expect(sumOf(groups, secondsKeys)).toEqual(sumOf(rows, secondsKeys))
  const ofRooms = rooms.map(({ room, request }) => past.outagesBy(groupBy, room, request))
  for (const { day, outages, longestOutageSeconds } of groups) {
    const own = ofRooms.flatMap((found) => found.get(Date.parse(day as string) / dayMs) ?? [])
    expect({ outages, longestOutageSeconds }, `${day} of ${JSON.stringify(asked.query)}`).toEqual({
      outages: own.reduce((sum, one) => sum + one.outages, 0),
      longestOutageSeconds: Math.max(0, ...own.map(({ longest }) => longest)),
    })
  }
  const shown = new Set(groups.map(({ day }) => Date.parse(day as string) / dayMs))
  for (const found of ofRooms) for (const day of found.keys()) expect(shown.has(day)).toBe(true)
}

/** A caller who is limited to a region gets the rows of its rooms, and nothing else. */
async function compareSubset(org: TestOrg, asked: Asked, world: PastWorld, rows: readonly AvailabilityRow[]) {
  const region = world.regions[0] as number
  const { key } = await newPerson(harness, org, { role: 'viewer', regionIds: [region] })
  expect((await ask(org, asked.query, key)).rows).toEqual(rows.filter((row) => row.region?.id === region))
}

/** Each figure of a room is the sum of its periods, and the times without a connection are whole. Returns the seconds of the longest of them. */
async function comparePeriods(
  org: TestOrg,
  asked: Asked,
  row: AvailabilityRow | undefined,
  world: PastWorld,
  retainedFrom: number,
): Promise<number> {
  const room = world.rooms.find(({ id }) => id === row?.room?.id)
  if (!row || !room) return 0
  const query = { ...asked.query, roomId: room.id, periods: 'true' }
  const { rows, periods = [], connectionsFrom, incidentsFrom } = await ask(org, query)
  expect(rows).toEqual([row])
  const retainedDays = (from: string) => (Math.ceil(world.now / dayMs) * dayMs - Date.parse(from)) / dayMs
  expect([retainedDays(connectionsFrom), retainedDays(incidentsFrom)]).toEqual([730, 400])
  // Connections begin 40 days before the month.
  const whole = new PlainPast(world, world.monthStart / secondMs - 41 * daySeconds, Math.floor(world.now / secondMs))
  const gaps = whole.gapsOf(room, retainedFrom)
  const sums: Sums = {}
  for (const [i, { from, to, class: name, seconds, isImpaired, gapFrom, gapTo }] of periods.entries()) {
    const [start, end] = [from, to].map((time) => Date.parse(time) / secondMs) as [number, number]
    expect(end - start).toBe(seconds)
    expect(from >= (periods[i - 1]?.to ?? '')).toBe(true)
    const gap = gaps.find((one) => one[0] <= start && one[1] > start)
    const place = `room ${room.id} from ${from}: ${JSON.stringify(asked.query)}`
    expect([gapFrom, gapTo], place).toEqual(
      gap?.map((time) => new Date(time * secondMs).toISOString()) ?? [undefined, undefined],
    )
    sums[`${name}Seconds`] = (sums[`${name}Seconds`] ?? 0) + seconds
    if (isImpaired) sums.impairedSeconds = (sums.impairedSeconds ?? 0) + seconds
  }
  for (const key of secondsKeys) {
    if (key !== 'countedSeconds') expect(sums[key] ?? 0, key).toBe(row[key])
  }
  const outages = new Set(periods.filter((period) => period.class === 'charged').map(({ gapFrom }) => gapFrom))
  expect(outages.size).toBe(row.outages)
  // A report of some seconds within the longest of these times has the whole of it too.
  const [longest] = gaps.toSorted((a, b) => b[1] - b[0] - (a[1] - a[0]))
  if (!longest || longest[1] - longest[0] < 60) return 0
  const middle = Math.floor((longest[0] + longest[1]) / 2)
  const [from, to, gapFrom, gapTo] = [middle, middle + 30, ...longest].map((s) => new Date(s * secondMs).toISOString())
  const short = { from: from as string, to: to as string, hours: 'always', roomId: room.id, periods: 'true' }
  const found = (await ask(org, short)).periods ?? []
  expect(found.length).toBeGreaterThan(0)
  for (const period of found) expect(period, JSON.stringify(short)).toMatchObject({ gapFrom, gapTo })
  return longest[1] - longest[0]
}

type IncidentReport = Static<typeof incidentReportOperations.reportsIncidents.response>
const incidentGroups = ['rule', 'room', 'location', 'region', 'model'] as const

/** Incidents of the same world, by rule, place and model, with filters, and as a restricted caller gets them. */
async function compareIncidents(org: TestOrg, world: PastWorld, random: SeededChoices): Promise<void> {
  const { monthStart, regions, rooms, locations } = world
  const region = regions[1] as number
  const { key } = await newPerson(harness, org, { role: 'viewer', regionIds: [region] })
  const start = monthStart + random.below(10) * dayMs + random.below(dayMs)
  const window =
    random.below(3) === 0 ? [start, start + random.below(20 * dayMs)] : [monthStart, monthStart + 40 * dayMs]
  const [from, to] = window as [number, number]
  const filters = [
    {},
    { rule: 'device.offline' },
    { severity: 'WARNING' },
    { roomId: random.pick(rooms).id },
    { locationId: random.pick(locations).id },
  ]
  for (const [i, groupBy] of incidentGroups.entries()) {
    const asked = { groupBy, ...filters[(i + random.below(2)) % filters.length] }
    const times = { from: new Date(from).toISOString(), to: new Date(to).toISOString(), pageSize: 1000 }
    for (const visibleRegion of [undefined, region]) {
      const query = Object.entries({ ...asked, ...times }).map(([k, v]): [string, string] => [k, String(v)])
      const reply = await org.call('GET', `/reports/incidents?${new URLSearchParams(query)}`, {
        ...(visibleRegion !== undefined && { key }),
      })
      expect(reply.status, reply.text).toBe(200)
      const { counts, rows, repeatOffenders } = reply.body as IncidentReport
      const plain = plainIncidents(world, {
        ...{ ...asked, from, to },
        ...(visibleRegion !== undefined && { visibleRegion }),
      })
      const place = `${JSON.stringify(asked)} of region ${visibleRegion}`
      expect(counts, place).toEqual(plain.counts)
      const byKey = rows.map(({ rule, room, location, region: ofRegion, model, ...figures }) => [
        rule ?? model ?? (room ?? location ?? ofRegion)?.id ?? 'none',
        figures,
      ])
      expect(Object.fromEntries(byKey), place).toEqual(plain.rows)
      const offenders = repeatOffenders.map(({ rule, endpoint, room, incidents, lastOpenedAt }) => ({
        key: endpoint ? `${rule} ENDPOINT ${endpoint.id}` : `${rule} ROOM ${room?.id}`,
        ...{ incidents, lastOpenedAt },
      }))
      expect(
        offenders.sort((a, b) => (a.key < b.key ? -1 : 1)),
        place,
      ).toEqual(plain.repeatOffenders)
    }
  }
}
