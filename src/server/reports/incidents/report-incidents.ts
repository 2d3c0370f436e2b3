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
import { sortInTurns, type Turns } from '../turns.ts'
import {
  listFormerModels,
  listIncidentsOpened,
  listModels,
  listNamesOfLocations,
  listOpenedIds,
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

/** Incidents, and names, that one statement reads. */
const rowsPerStatement = 250
/** Subjects that one statement reads. */
const subjectsPerStatement = 500
/** Incidents that are counted, and rows that are made, in one step. */
const rowsPerStep = 20

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
  for await (const page of pagesOf(ctx, window, turns)) {
    const places = await placesOf(ctx, page, turns)
    const models = groupBy === 'model' ? await modelsOf(ctx, places.values(), turns) : noModels
    for (const [i, incident] of page.entries()) {
      if (i % rowsPerStep === 0) await turns.next()
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
  }
  const names = await namesOf(ctx, groupBy, [...groups.keys()], roomNames, turns)
  const rows: IncidentReportRow[] = []
  for (const [key, times] of groups) rows.push({ ...placeOf(key, groupBy, names), ...(await times.figures(turns)) })
  return {
    counts: await all.figures(turns),
    rows,
    repeatOffenders: await repeatOffendersOf(offenders, roomNames, turns),
  }
}

/** The visible incidents of a window, in the order of their ids within a page. */
async function* pagesOf({ db }: RequestContext, { from, to }: IncidentWindow, turns: Turns) {
  for (let [afterTime, afterId] = [from, 0]; ; ) {
    const opened = await listOpenedIds(db, { to, afterTime, afterId, limit: rowsPerStatement })
    await turns.next()
    const page = opened.length > 0 ? await listIncidentsOpened(db, { ids: opened.map(({ id }) => id) }) : []
    await turns.next()
    if (page.length > 0) yield page
    const last = opened.at(-1)
    if (!last || opened.length < rowsPerStatement) return
    ;[afterTime, afterId] = [last.opened_at, last.id]
  }
}

/** The visible subjects of incidents, which are in the order of their ids. Ids follow the times of opening, so few others lie between them. */
async function placesOf(
  { db }: RequestContext,
  incidents: readonly OpenedIncident[],
  turns: Turns,
): Promise<ReadonlyMap<number, readonly SubjectPlace[]>> {
  const places = new Map<number, SubjectPlace[]>(incidents.map(({ id }) => [id, []]))
  const lastIncident = incidents.at(-1)?.id ?? 0
  let after = { afterIncident: incidents[0]?.id ?? 0, afterType: '', afterId: '' }
  for (;;) {
    const page = await listSubjectPlaces(db, { ...after, lastIncident, limit: subjectsPerStatement })
    for (const subject of page) places.get(subject.incident_id)?.push(subject)
    await turns.next()
    const last = page.at(-1)
    if (!last || page.length < subjectsPerStatement) return places
    after = { afterIncident: last.incident_id, afterType: last.subject_type, afterId: last.subject_id }
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

  async figures(turns: Turns): Promise<IncidentFigures> {
    const byLength = (a: number, b: number) => a - b
    const acknowledged = await sortInTurns(this.#toAcknowledge, byLength, turns)
    const ended = await sortInTurns(this.#toEnd, byLength, turns)
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

async function modelsOf(
  { db }: RequestContext,
  places: Iterable<readonly SubjectPlace[]>,
  turns: Turns,
): Promise<Models> {
  const wanted = new Set<string>()
  for (const subjects of places) {
    for (const { subject_type, subject_id } of subjects) if (subject_type === 'endpoint') wanted.add(subject_id)
    await turns.next()
  }
  const models = new Map<string, string>()
  for (const ids of inPieces([...wanted])) {
    for (const { endpoint_id, model } of await listFormerModels(db, { ids })) models.set(endpoint_id, model ?? '')
    await turns.next()
    for (const { id, model } of await listModels(db, { ids })) models.set(id, model)
    await turns.next()
  }
  return models
}

function* inPieces<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += rowsPerStatement) yield items.slice(at, at + rowsPerStatement)
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

const listNames = { room: listRoomNames, location: listNamesOfLocations, region: listRegionNames }

/** The names of today, or else those that rooms had then. What is gone, or not visible any longer, has none. */
async function namesOf(
  { db }: RequestContext,
  groupBy: IncidentReportGroup,
  keys: readonly (string | number | undefined)[],
  roomNames: ReadonlyMap<number, string>,
  turns: Turns,
): Promise<ReadonlyMap<number, string>> {
  if (groupBy === 'rule' || groupBy === 'model') return new Map()
  const names = new Map(groupBy === 'room' ? roomNames : [])
  for (const ids of inPieces(keys.filter((key) => typeof key === 'number'))) {
    for (const { id, name } of await listNames[groupBy](db, { ids })) names.set(id, name)
    await turns.next()
  }
  return names
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

async function repeatOffendersOf(
  offenders: ReadonlyMap<string, Offender>,
  roomNames: ReadonlyMap<number, string>,
  turns: Turns,
): Promise<RepeatOffender[]> {
  const repeated = [...offenders.values()].filter(({ incidents }) => incidents >= repeatsFrom)
  const compare = (a: Offender, b: Offender) =>
    b.incidents - a.incidents || b.lastOpenedAt - a.lastOpenedAt || b.incident.id - a.incident.id
  return (await sortInTurns(repeated, compare, turns))
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
