// Counts the incidents that opened in a window: by rule, place or model, how long they took, and who has the same ones again and again. [contract 16.incidents]
import { secondMs } from '../../../contract/durations.ts'
import { isOpenState } from '../../../contract/incidents/states.ts'
import {
  type IncidentFigures,
  type IncidentReportGroup,
  type IncidentReportRow,
  maxRepeatOffenders,
  type RepeatOffender,
  repeatsFrom,
} from '../../../contract/reports/incidents.ts'
import { timeWithin } from '../../../insight/incident-times.ts'
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { isoTime } from '../../core/clock.ts'
import type { Turns } from '../turns.ts'
import {
  listFormerModels,
  listIncidentsOpened,
  listModels,
  listNamesOfLocations,
  listRegionNames,
  listRoomNames,
  listSubjectPlaces,
  type OpenedIncident,
  type SubjectPlace,
} from './store.ts'

type Query = InputOf<'reportsIncidents'>['query']

export type AskedIncidents = Pick<Query, 'rule' | 'severity' | 'roomId' | 'locationId' | 'regionId'> & {
  /** Only incidents in one of these rooms; undefined for incidents everywhere. */
  readonly roomIds?: ReadonlySet<number> | undefined
}

/** In milliseconds. */
export interface IncidentWindow {
  readonly from: number
  readonly to: number
}

/** Incidents that one statement reads. */
const incidentsPerStatement = 250

export async function reportIncidents(
  ctx: RequestContext,
  asked: AskedIncidents,
  window: IncidentWindow,
  groupBy: IncidentReportGroup,
  turns: Turns,
) {
  const all = new Times()
  const groups = new Map<string | number | undefined, Times>()
  const offenders = new Map<string, Offender>()
  const roomNames = new Map<number, string>()
  for (let after = 0; ; ) {
    const page = await listIncidentsOpened(ctx.db, { ...window, after, limit: incidentsPerStatement })
    await turns.next()
    const places = Map.groupBy(
      await listSubjectPlaces(ctx.db, { incidents: page.map(({ id }) => id) }),
      (s) => s.incident_id,
    )
    await turns.next()
    const models = groupBy === 'model' ? await modelsOf(ctx, [...places.values()].flat()) : noModels
    for (const incident of page) {
      const subjects = (places.get(incident.id) ?? []).filter((subject) => isAsked(subject, asked))
      if (subjects.length === 0 || !isWanted(incident, asked)) continue
      all.add(incident)
      for (const key of new Set(keysOf(incident, subjects, groupBy, models))) {
        const group = groups.get(key) ?? new Times()
        groups.set(key, group)
        group.add(incident)
      }
      for (const { room_id, room_name } of subjects) if (room_id !== null) roomNames.set(room_id, room_name ?? '')
      noteOffender(offenders, incident)
    }
    await turns.next()
    const last = page.at(-1)
    if (!last || page.length < incidentsPerStatement) break
    after = last.id
  }
  const names = await namesOf(ctx, groupBy, [...groups.keys()], roomNames)
  return {
    counts: all.figures(),
    rows: [...groups].map(
      ([key, times]): IncidentReportRow => ({ ...placeOf(key, groupBy, names), ...times.figures() }),
    ),
    repeatOffenders: repeatOffendersOf(offenders, roomNames),
  }
}

const isWanted = ({ rule, severity }: OpenedIncident, asked: AskedIncidents): boolean =>
  (asked.rule === undefined || asked.rule === rule) && (asked.severity === undefined || asked.severity === severity)

const isAsked = (
  { room_id, location_id, region_id }: SubjectPlace,
  { roomId, locationId, regionId, roomIds }: AskedIncidents,
): boolean =>
  (roomIds === undefined || (room_id !== null && roomIds.has(room_id))) &&
  (roomId === undefined || roomId === room_id) &&
  (locationId === undefined || locationId === location_id) &&
  (regionId === undefined || regionId === region_id)

/** How long the incidents of a row took, in seconds. */
class Times {
  #incidents = 0
  #open = 0
  readonly #toAcknowledge: number[] = []
  readonly #toEnd: number[] = []

  add({ state, opened_at, acknowledged_at, resolved_at }: OpenedIncident): void {
    this.#incidents++
    if (isOpenState(state)) this.#open++
    else this.#toEnd.push(secondsBetween(opened_at, resolved_at ?? opened_at))
    if (acknowledged_at !== null) this.#toAcknowledge.push(secondsBetween(opened_at, acknowledged_at))
  }

  figures(): IncidentFigures {
    const [acknowledged, ended] = [this.#toAcknowledge, this.#toEnd]
    const shares = {
      acknowledgeMedianSeconds: timeWithin(acknowledged, 0.5),
      acknowledgeP90Seconds: timeWithin(acknowledged, 0.9),
      endMedianSeconds: timeWithin(ended, 0.5),
      endP90Seconds: timeWithin(ended, 0.9),
    }
    return {
      incidents: this.#incidents,
      open: this.#open,
      acknowledged: acknowledged.length,
      ended: ended.length,
      ...Object.fromEntries(Object.entries(shares).filter(([, value]) => value !== undefined)),
    }
  }
}

const secondsBetween = (from: number, to: number): number => Math.max(0, Math.floor((to - from) / secondMs))

type Models = ReadonlyMap<string, string>
const noModels: Models = new Map()

async function modelsOf({ db }: RequestContext, subjects: readonly SubjectPlace[]): Promise<Models> {
  const ids = [...new Set(subjects.filter((s) => s.subject_type === 'endpoint').map(({ subject_id }) => subject_id))]
  const former = await listFormerModels(db, { ids })
  const present = await listModels(db, { ids })
  return new Map([
    ...former.map(({ endpoint_id, model }) => [endpoint_id, model ?? ''] as const),
    ...present.map(({ id, model }) => [id, model] as const),
  ])
}

/** The rows that an incident is in. Undefined stands for what has no such place or model. */
function keysOf(
  { rule }: OpenedIncident,
  subjects: readonly SubjectPlace[],
  groupBy: IncidentReportGroup,
  models: Models,
): (string | number | undefined)[] {
  switch (groupBy) {
    case 'rule':
      return [rule]
    case 'room':
      return known(subjects.map(({ room_id }) => room_id))
    case 'location':
      return known(subjects.map(({ location_id }) => location_id))
    case 'region':
      return known(subjects.map(({ region_id }) => region_id))
    case 'model':
      return known(subjects.map(({ subject_id }) => models.get(subject_id) ?? null))
  }
}

function known<T>(values: readonly (T | null)[]): (T | undefined)[] {
  const present = values.filter((value) => value !== null)
  return present.length > 0 ? present : [undefined]
}

/** The names of today, or else those that rooms had then. What is gone, or not visible any longer, has none. */
async function namesOf(
  { db }: RequestContext,
  groupBy: IncidentReportGroup,
  keys: readonly (string | number | undefined)[],
  roomNames: ReadonlyMap<number, string>,
): Promise<ReadonlyMap<number, string>> {
  const ids = keys.filter((key) => typeof key === 'number')
  const entries = (rows: readonly { id: number; name: string }[]) => rows.map(({ id, name }) => [id, name] as const)
  if (groupBy === 'room') return new Map([...roomNames, ...entries(await listRoomNames(db, { ids }))])
  if (groupBy === 'location') return new Map(entries(await listNamesOfLocations(db, { ids })))
  if (groupBy === 'region') return new Map(entries(await listRegionNames(db, { ids })))
  return new Map()
}

function placeOf(key: string | number | undefined, groupBy: IncidentReportGroup, names: ReadonlyMap<number, string>) {
  if (key === undefined) return {}
  return { [groupBy]: typeof key === 'number' ? { id: key, name: names.get(key) ?? '' } : key }
}

interface Offender {
  readonly incident: OpenedIncident
  incidents: number
  lastOpenedAt: number
}

/** An outage of a whole location does not count as a repeat of its devices. */
function noteOffender(offenders: Map<string, Offender>, incident: OpenedIncident): void {
  const { rule, level, cause_id, opened_at } = incident
  if (level !== 'ENDPOINT' && level !== 'ROOM') return
  const key = `${rule} ${level} ${cause_id}`
  const before = offenders.get(key)
  offenders.set(key, {
    incident,
    incidents: (before?.incidents ?? 0) + 1,
    lastOpenedAt: Math.max(opened_at, before?.lastOpenedAt ?? 0),
  })
}

function repeatOffendersOf(
  offenders: ReadonlyMap<string, Offender>,
  roomNames: ReadonlyMap<number, string>,
): RepeatOffender[] {
  return [...offenders.values()]
    .filter(({ incidents }) => incidents >= repeatsFrom)
    .sort((a, b) => b.incidents - a.incidents || b.lastOpenedAt - a.lastOpenedAt || b.incident.id - a.incident.id)
    .slice(0, maxRepeatOffenders)
    .map(({ incident: { rule, level, cause_id, cause_name }, incidents, lastOpenedAt }) => {
      const room = Number(cause_id)
      const place =
        level === 'ROOM'
          ? { room: { id: room, name: roomNames.get(room) ?? cause_name } }
          : { endpoint: { id: cause_id, name: cause_name } }
      return { rule, ...place, incidents, lastOpenedAt: isoTime(lastOpenedAt) }
    })
}
