// Sensor data: one function for each operation. [contract 5.2]
import type { By } from '../../platform/by.ts'
import { Failure, found } from '../../platform/failure.ts'
import type { InputOf } from '../../platform/http/handlers.ts'
import { findRoom } from '../rooms/store.ts'
import { aggregate } from './aggregate.ts'
import {
  findLatest,
  hasEndpoint,
  listLatest,
  listLatestInRoom,
  listLatestInRooms,
  listRoomIds,
  type SampleRow,
} from './store.ts'
import { freshSince, sensorDataView } from './view.ts'

export async function endpointsSensorData(by: By, id: string, legacy: boolean) {
  const latest = found(await findLatest(by.ground.db, by.org.key, id), `endpoint ${id}`)
  if (!isSample(latest)) throw new Failure('NOT_FOUND', `endpoint ${id} has not sent a sample yet.`)
  return { endpointData: sensorDataView(latest, legacy) }
}

export async function endpointsBulkSensorData(
  by: By,
  { regionId, locationId }: InputOf<'endpointsBulkSensorData'>['query'],
  legacy: boolean,
) {
  const rows = await listLatest(by.ground.db, by.org.key, regionId, locationId)
  return { data: rows.map((row) => ({ id: row.id, endpointData: isSample(row) ? sensorDataView(row, legacy) : null })) }
}

export async function roomsSensorData(by: By, id: number, legacy: boolean) {
  const { db, clock } = by.ground
  found(await findRoom(db, by.org.key, id), `room ${id}`)
  const sample = aggregate(await listLatestInRoom(db, by.org.key, id, freshSince(clock.now())))
  if (!sample) throw new Failure('NOT_FOUND', `room ${id} has no sample of the last 15 minutes.`)
  return { roomData: sensorDataView(sample, legacy) }
}

export async function roomsBulkSensorData(
  by: By,
  { regionId, locationId }: InputOf<'roomsBulkSensorData'>['query'],
  legacy: boolean,
) {
  const { db, clock } = by.ground
  if (!(await hasEndpoint(db, by.org.key))) {
    throw new Failure(
      'FAILED_PRECONDITION',
      'the organisation has no endpoints. Enrol a device with the code of a room.',
    )
  }
  const rooms = await listRoomIds(db, by.org.key, regionId, locationId)
  const samples = Map.groupBy(await listLatestInRooms(db, by.org.key, freshSince(clock.now())), (row) => row.room_id)
  return {
    data: rooms.map(({ id }) => {
      const sample = aggregate(samples.get(id) ?? [])
      return { id, roomData: sample ? sensorDataView(sample, legacy) : null }
    }),
  }
}

const isSample = <T extends { timestamp: number | null }>(row: T): row is T & SampleRow => row.timestamp !== null
