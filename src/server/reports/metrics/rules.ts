// Answers the rooms and endpoints that a caller sees as metrics, in slices between which other work runs. [contract 16.metrics]
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { modelOf } from '../../../contract/device/models.ts'
import { daySeconds } from '../../../contract/durations.ts'
import { endpointLabel } from '../../../contract/fleet/endpoint-label.ts'
import { endpointStates } from '../../../contract/fleet/endpoints.ts'
import { powerStates } from '../../../contract/fleet/reported-status.ts'
import { roomStates } from '../../../contract/fleet/rooms.ts'
import { severities } from '../../../contract/incidents/rule-table.ts'
import { freshSince } from '../../config/sensor-settings.ts'
import { StreamedAnswer } from '../../context/answers.ts'
import type { InputOf } from '../../context/handlers.ts'
import type { RequestContext } from '../../context/request-context.ts'
import { type ReportedStatus, shownStatus } from '../../fleet/endpoints/reported-status.ts'
import { listLocations } from '../../fleet/locations/store.ts'
import { readRoomsInPages } from '../../fleet/rooms/rules.ts'
import type { SampleRow } from '../../sensors/ingest/store.ts'
import { aggregate } from '../../sensors/latest/aggregate.ts'
import type { LatestSampleCache } from '../../sensors/latest/cache.ts'
import { type AirFamily, endpointFamilies, type MetricFamily, roomFamilies } from './families.ts'
import { countIncidents, type IncidentCounts } from './incident-counts.ts'
import { labelsOf, MetricsText } from './metrics-text.ts'
import { listMeasuredEndpoints, type MeasuredEndpoint } from './store.ts'

/** Rooms or endpoints that are read or written in one turn of the event loop. */
const subjectsPerTurn = 250

interface Reading {
  readonly ctx: RequestContext
  readonly query: InputOf<'metricsGet'>['query']
  readonly text: MetricsText
  readonly incidents: IncidentCounts
  /** Values of older samples are left out: Prometheus would go on showing them as present. */
  readonly since: number
}

export async function metricsGet(
  ctx: RequestContext,
  latest: LatestSampleCache,
  query: InputOf<'metricsGet'>['query'],
): Promise<StreamedAnswer> {
  const text = new MetricsText()
  const reading = { ctx, query, text, incidents: await countIncidents(ctx), since: freshSince(ctx) }
  await addRooms(reading, latest)
  await addEndpoints(reading, latest)
  const pieces = text.end()
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return new StreamedAnswer(metricsType, undefined, Readable.from(pieces), { length })
}

/** The text format that every version of Prometheus reads. */
const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

async function addRooms({ ctx, query, text, incidents, since }: Reading, latest: LatestSampleCache): Promise<void> {
  const locations = new Map((await listLocations(ctx.db)).map((location) => [location.id, location]))
  const { rooms: planned } = await latest.plan(ctx.org.key)
  const samples = await latest.samples(ctx.org.key)
  const endpointsOf = new Map(planned.map(({ id, endpoints }) => [id, endpoints]))
  for await (const { rooms } of readRoomsInPages(ctx, query)) {
    for (let at = 0; at < rooms.length; at += subjectsPerTurn) {
      for (const room of rooms.slice(at, at + subjectsPerTurn)) {
        const labels = `room="${room.id}"`
        const location = room.location && locations.get(room.location.id)
        text.add(
          roomFamilies.info,
          labelsOf({
            room: room.id,
            name: room.name,
            location: room.location?.id,
            location_name: room.location?.name,
            region: location?.region_id,
            region_name: location?.region_name,
          }),
          1,
        )
        text.addState(roomFamilies.state, labels, roomStates, room.state)
        text.add(roomFamilies.endpoints, labels, room.endpointCount)
        text.add(roomFamilies.connected, labels, room.connectedCount)
        if (room.capacity !== undefined) text.add(roomFamilies.capacity, labels, room.capacity)
        const rows = (endpointsOf.get(room.id) ?? []).flatMap((number) => samples.get(number)?.row ?? [])
        const fresh = aggregate(rows.filter(({ timestamp }) => timestamp >= since))
        if (room.people !== undefined) addPeople(text, roomFamilies, labels, room.people, room.peopleIs === undefined)
        if (fresh) addAir(text, roomFamilies.air, labels, fresh)
        if (rows.length > 0) {
          text.add(roomFamilies.sampleTimestamp, labels, Math.max(...rows.map(({ timestamp }) => timestamp)))
        }
        addIncidents(text, roomFamilies.incidents, labels, incidents.ofRoom(room.id))
      }
      text.encode()
      await nextTurn()
    }
  }
}

async function addEndpoints(reading: Reading, latest: LatestSampleCache): Promise<void> {
  const { ctx, query, text, incidents, since } = reading
  const samples = await latest.samples(ctx.org.key)
  for (let after = ''; ; ) {
    const page = { ...ctx.presenceTimes, after, limit: subjectsPerTurn }
    const rows = await listMeasuredEndpoints(ctx.db, page, query.regionId, query.locationId)
    const last = rows.at(-1)
    if (!last) return
    await nextTurn()
    for (const row of rows) {
      const labels = `endpoint="${row.id}"`
      const status = shownStatus(row)
      text.add(endpointFamilies.info, endpointInfo(row, status), 1)
      text.addState(endpointFamilies.state, labels, endpointStates, row.state)
      const sample = samples.get(row.number)?.row
      if (sample) {
        if (sample.timestamp >= since) {
          const { people } = sample
          if (people !== null) addPeople(text, endpointFamilies, labels, people, row.presence_only === 0)
          addAir(text, endpointFamilies.air, labels, sample)
        }
        text.add(endpointFamilies.sampleTimestamp, labels, sample.timestamp)
      }
      addReported(text, labels, status)
      addIncidents(text, endpointFamilies.incidents, labels, incidents.ofEndpoint(row.id))
    }
    text.encode()
    after = last.id
    await nextTurn()
  }
}

function endpointInfo(row: MeasuredEndpoint, status: ReportedStatus): string {
  const known = modelOf(row.model)
  return labelsOf({
    endpoint: row.id,
    room: row.room_id,
    name: endpointLabel(row),
    serial: row.serial,
    model: row.model,
    kind: known.kind ?? status.kind,
    manufacturer: known.manufacturer ?? status.manufacturer,
    firmware: status.firmwareVersion,
  })
}

/** Adds the power of a device and the readings that are metrics. */
function addReported(text: MetricsText, labels: string, { power, readings = [] }: ReportedStatus): void {
  if (power !== undefined) text.addState(endpointFamilies.power, labels, powerStates, power)
  for (const { name, value } of readings) {
    if (name === 'powerDraw') text.add(endpointFamilies.powerDraw, labels, value)
    if (name === 'certificateDays') text.add(endpointFamilies.certificate, labels, value * daySeconds)
  }
}

function addPeople(
  text: MetricsText,
  families: { readonly people: MetricFamily; readonly occupied: MetricFamily },
  labels: string,
  people: number,
  isCounted: boolean,
): void {
  if (isCounted) text.add(families.people, labels, people)
  text.add(families.occupied, labels, people > 0 ? 1 : 0)
}

function addAir(text: MetricsText, families: readonly AirFamily[], labels: string, sample: SampleRow): void {
  for (const family of families) {
    const value = sample[family.column]
    if (value !== null) text.add(family, labels, value / family.divisor)
  }
}

function addIncidents(
  text: MetricsText,
  family: MetricFamily,
  labels: string,
  counts: ReturnType<IncidentCounts['ofRoom']>,
): void {
  for (const severity of severities) text.add(family, `${labels},severity="${severity}"`, counts[severity])
}
