// Sensor data: one function for each operation. [contract 5.2]

import { peopleIsOf } from '../../contract/fleet/rooms.ts'
import { freshSince } from '../config/sensor-settings.ts'
import type { InputOf } from '../context/handlers.ts'
import type { RequestContext } from '../context/request-context.ts'
import { Failure, mustFind } from '../core/failure.ts'
import { findRoom } from '../fleet/rooms/store.ts'
import type { SampleRow } from './ingest/store.ts'
import { dataListAnswer } from './json-writer.ts'
import { aggregate, mostPeople } from './latest/aggregate.ts'
import type { LatestSampleCache, SamplesByNumber } from './latest/cache.ts'
import type { PlannedRoom, RoomPlan } from './latest/room-plan.ts'
import { findLatest, listLatestInRoom } from './latest/store.ts'
import { endpointEntryText, roomEntryText, sensorDataText, sensorDataView } from './view.ts'

export async function endpointsSensorData(ctx: RequestContext, id: string, legacy: boolean) {
  const latest = mustFind(await findLatest(ctx.db, { id }), `endpoint ${id}`)
  if (!isSample(latest)) throw new Failure('NOT_FOUND', `endpoint ${id} has not sent a sample yet.`)
  return { endpointData: sensorDataView(latest, legacy) }
}

export async function endpointsBulkSensorData(
  ctx: RequestContext,
  latest: LatestSampleCache,
  filter: InputOf<'endpointsBulkSensorData'>['query'],
  legacy: boolean,
) {
  const { access } = ctx
  const textOf = ({ endpoints }: RoomPlan, samples: SamplesByNumber) =>
    dataListAnswer(
      endpoints.filter(({ room }) => access.sees(room?.region) && isWithin(filter, room)),
      ({ id, number }) => samples.get(number)?.entry(id, legacy) ?? endpointEntryText(id, 'null'),
    )
  if (access.isEverything && filter.regionId === undefined && filter.locationId === undefined) {
    return latest.wholeAnswer(ctx.org.key, legacy ? 'endpoints, legacy' : 'endpoints', textOf)
  }
  return textOf(await latest.plan(ctx.org.key), await latest.samples(ctx.org.key))
}

export async function roomsSensorData(ctx: RequestContext, id: number, legacy: boolean) {
  const { db, settings } = ctx
  mustFind(await findRoom(db, { id }), `room ${id}`)
  const latest = await listLatestInRoom(db, { room: id, since: freshSince(ctx) })
  const sample = aggregate(latest)
  if (!sample) {
    const minutes = settings.freshnessSeconds / 60
    throw new Failure(
      'NOT_FOUND',
      `room ${id} has no sample of the last ${minutes === 1 ? 'minute' : `${minutes} minutes`}.`,
    )
  }
  const counted = mostPeople(latest.filter((row) => row.presence_only === 0))
  return { roomData: sensorDataView(sample, legacy, peopleIsOf(sample.people, counted)) }
}

export async function roomsBulkSensorData(
  ctx: RequestContext,
  latest: LatestSampleCache,
  filter: InputOf<'roomsBulkSensorData'>['query'],
  legacy: boolean,
) {
  const { access } = ctx
  const { rooms, endpoints } = await latest.plan(ctx.org.key)
  if (!endpoints.some(({ room }) => access.sees(room?.region))) {
    throw new Failure(
      'FAILED_PRECONDITION',
      'the organisation has no endpoints. Enrol a device with the code of a room.',
    )
  }
  const samples = await latest.samples(ctx.org.key)
  const since = freshSince(ctx)
  return dataListAnswer(
    rooms.filter((room) => access.sees(room.region) && isWithin(filter, room)),
    (room) => roomEntryText(room.id, roomText(room, samples, since, legacy)),
  )
}

function roomText(
  { endpoints, presenceOnly }: PlannedRoom,
  samples: SamplesByNumber,
  since: number,
  legacy: boolean,
): string {
  const rows: SampleRow[] = []
  const counting: SampleRow[] = []
  for (const number of endpoints) {
    const row = samples.get(number)?.row
    if (!row || row.timestamp < since) continue
    rows.push(row)
    if (presenceOnly.length > 0 && !presenceOnly.includes(number)) counting.push(row)
  }
  const sample = aggregate(rows)
  if (!sample) return 'null'
  const peopleIs = presenceOnly.length > 0 ? peopleIsOf(sample.people, mostPeople(counting)) : undefined
  return sensorDataText(sample, legacy, peopleIs)
}

interface Filter {
  readonly regionId?: number | undefined
  readonly locationId?: number | undefined
}
const isWithin = ({ regionId, locationId }: Filter, room: PlannedRoom | undefined): boolean =>
  (regionId === undefined || room?.region === regionId) && (locationId === undefined || room?.location === locationId)

const isSample = <T extends { timestamp: number | null }>(row: T): row is T & SampleRow => row.timestamp !== null
