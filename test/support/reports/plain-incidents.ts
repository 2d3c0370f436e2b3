// Counts the incidents of a generated past from plain facts, apart from the code of the service. [contract 16.incidents]
import type { PastWorld, PlainIncident } from './past-world.ts'

export type PlainGroup = 'rule' | 'room' | 'location' | 'region' | 'model'

export interface PlainIncidentRequest {
  /** In milliseconds. */
  readonly from: number
  readonly to: number
  readonly groupBy: PlainGroup
  readonly rule?: string
  readonly severity?: string
  readonly roomId?: number
  readonly locationId?: number
  /** The caller sees only this region. */
  readonly visibleRegion?: number
}

type Figures = Readonly<Record<string, number>>
interface Subject {
  readonly room: number
  readonly location: number
  readonly region: number
  readonly model: string | undefined
}

export function plainIncidents(world: PastWorld, request: PlainIncidentRequest) {
  const { from, to, groupBy, rule, severity, roomId, locationId, visibleRegion } = request
  const counted = world.incidents.flatMap((incident, i) => {
    if (incident.isMerged || incident.openedAt < from || incident.openedAt >= to) return []
    if (rule !== undefined && incident.rule !== rule) return []
    if (severity !== undefined && incident.severity !== severity) return []
    const subjects = subjectsOf(world, incident).filter(
      (one) =>
        (visibleRegion === undefined || one.region === visibleRegion) &&
        (roomId === undefined || one.room === roomId) &&
        (locationId === undefined || one.location === locationId),
    )
    return subjects.length > 0 ? [{ incident, id: i + 1, subjects }] : []
  })
  const keysOf = ({ incident, subjects }: (typeof counted)[number]): ReadonlySet<string> => {
    if (groupBy === 'rule') return new Set([incident.rule])
    const keys = subjects.map((subject) => subject[groupBy]).filter((key) => key !== undefined)
    return new Set(keys.length > 0 ? keys.map(String) : ['none'])
  }
  const keys = new Set(counted.flatMap((one) => [...keysOf(one)]))
  const rows = [...keys].map((key): [string, Figures] => [
    key,
    figuresOf(counted.filter((one) => keysOf(one).has(key)).map(({ incident }) => incident)),
  ])
  return {
    counts: figuresOf(counted.map(({ incident }) => incident)),
    rows: Object.fromEntries(rows),
    repeatOffenders: offendersOf(counted),
  }
}

function subjectsOf(world: PastWorld, { subjects, ofRoom }: PlainIncident): Subject[] {
  const of = (room: number, model: string | undefined): Subject => {
    const location = world.rooms.find(({ id }) => id === room)?.location as number
    return { room, location, region: world.locations.find(({ id }) => id === location)?.region as number, model }
  }
  return [
    ...subjects.map(({ device, room }) => of(room, modelOf(world, device))),
    ...(ofRoom === undefined ? [] : [of(ofRoom, undefined)]),
  ]
}

/** An earlier version did not store what a deleted device was. */
function modelOf(world: PastWorld, id: string): string | undefined {
  const device = world.devices.find((one) => one.id === id)
  if (device?.deletedAt === undefined) return device?.stays.at(-1)?.model
  return device.stays.find(({ until, isForgotten }) => until !== null && !isForgotten)?.model
}

function figuresOf(incidents: readonly PlainIncident[]): Figures {
  const seconds = (start: number, end: number) => Math.max(0, Math.floor((end - start) / 1000))
  const open = incidents.filter(({ resolvedAt }) => resolvedAt === null)
  const ends = incidents.flatMap(({ openedAt, resolvedAt }) =>
    resolvedAt === null ? [] : [seconds(openedAt, resolvedAt)],
  )
  const acknowledged = incidents.flatMap(({ openedAt, acknowledgedAt }) =>
    acknowledgedAt === null ? [] : [seconds(openedAt, acknowledgedAt)],
  )
  const shares = {
    acknowledgeMedianSeconds: within(acknowledged, 50),
    acknowledgeP90Seconds: within(acknowledged, 90),
    endMedianSeconds: within(ends, 50),
    endP90Seconds: within(ends, 90),
  }
  return {
    ...{ incidents: incidents.length, open: open.length, acknowledged: acknowledged.length, ended: ends.length },
    ...Object.fromEntries(Object.entries(shares).filter((entry): entry is [string, number] => entry[1] !== undefined)),
  }
}

/** The shortest of the times within which at least so many percent of them were. */
function within(times: readonly number[], percent: number): number | undefined {
  const enough = times.filter((time) => times.filter((one) => one <= time).length * 100 >= percent * times.length)
  return enough.length === 0 ? undefined : Math.min(...enough)
}

function offendersOf(counted: readonly { readonly incident: PlainIncident; readonly id: number }[]) {
  const own = counted.filter(({ incident: { level } }) => level !== 'LOCATION')
  const keyOf = ({ incident: { rule, level, causeId } }: (typeof own)[number]) => `${rule} ${level} ${causeId}`
  return [...new Set(own.map(keyOf))]
    .map((key) => {
      const same = own.filter((one) => keyOf(one) === key)
      const last = Math.max(...same.map(({ incident }) => incident.openedAt))
      return { key, incidents: same.length, lastOpenedAt: new Date(last).toISOString() }
    })
    .filter(({ incidents }) => incidents >= 3)
    .sort((a, b) => (a.key < b.key ? -1 : 1))
}
