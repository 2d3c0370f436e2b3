// Sensor data: the latest sample of endpoints, and of rooms as a whole. [contract 5.2]

import Type, { type Static, type TSchema } from 'typebox'
import { type CsvColumn, csvList, csvText } from '../csv-list.ts'
import { type Sensor, sensorRanges, sensors } from '../device/models.ts'
import { exampleEndpointId } from '../fleet/endpoints.ts'
import { PeopleIs } from '../fleet/rooms.ts'
import { operation } from '../operation.ts'
import { Bom, Int32, ListOf, OneOf, Shape } from '../shape.ts'

const measured = (sensor: Sensor, what: string) =>
  Int32(`${what}, in ${sensorRanges[sensor].unit}; 0 if it was not measured.`)
const exact = (sensor: Sensor, what: string) =>
  Type.Number({ description: `${what}, in ${sensorRanges[sensor].unit}, to one decimal; 0 if it was not measured.` })

export const Sample = Shape('webpageSensorSample', {
  co2: measured('co2', 'Carbon dioxide'),
  humidity: exact('humidity', 'Relative humidity'),
  illumination: measured('illumination', 'Illumination'),
  people: Int32('Number of people; 0 if it was not measured.'),
  temp: exact('temp', 'Temperature'),
  voc: measured('voc', 'Volatile organic compounds'),
  vocIndex: Int32('Index of volatile organic compounds; 0 if it was not measured.'),
  timestamp: Type.String({ description: 'Time of the measurement, Unix seconds.' }),
  ShutterClosed: Type.Optional(
    Type.Boolean({
      description:
        'Whether the privacy shutter of a Frame blocks the camera; false for other models. Absent under the legacy base.',
    }),
  ),
})

/** The sample has every value. [contract 5.2.measured] */
export const Measured = Type.Optional(
  Type.Array(OneOf(sensors, 'A value of the sample.'), {
    description: 'The values that were measured; the others are 0. Absent under the legacy base.',
  }),
)
const SensorData = Shape('webpageSensorData', {
  data: Type.Array(Sample, {
    minItems: 1,
    maxItems: 1,
    description: 'The latest sample; the list always has one entry.',
  }),
  shutterClosed: Type.Boolean({
    description: 'The value of `ShutterClosed` in the sample, repeated for clients that read it here.',
  }),
  measured: Measured,
  peopleIs: PeopleIs,
})
export type SensorData = Static<typeof SensorData>

const orNull = <S extends TSchema>(shape: S) => Type.Union([shape, Type.Null()])
const endpointId = Type.String({ format: 'uuid', description: 'Identifier of the endpoint.' })
const roomId = Int32('Identifier of the room.')
const EndpointSensorData = Shape('webpageEndpointSensorData', { id: endpointId, endpointData: orNull(SensorData) })
const RoomSensorData = Shape('webpageRoomSensorData', { id: roomId, roomData: orNull(SensorData) })

const example = {
  data: [
    {
      co2: 420,
      humidity: 36,
      illumination: 310,
      people: 4,
      temp: 22.5,
      voc: 502,
      vocIndex: 0,
      timestamp: '1714960500',
      ShutterClosed: false,
    },
  ],
  shutterClosed: false,
  measured: ['co2', 'humidity', 'illumination', 'people', 'temp', 'voc'],
}

/** A cell is empty if the value was not measured, as it is absent in the history. The legacy base does not say what was measured. */
const sampleColumns = (key: 'endpointData' | 'roomData'): readonly CsvColumn[] => {
  const dataOf = (item: object) => (item as Readonly<Record<typeof key, SensorData | null>>)[key]
  const column = (name: string, ofData: (data: SensorData) => unknown): CsvColumn => ({
    name,
    textOf: (item) => {
      const data = dataOf(item)
      return data ? csvText(ofData(data)) : ''
    },
  })
  return [
    { name: 'id', textOf: ({ id }) => csvText(id) },
    column('time', ({ data: [sample] }) => new Date(Number(sample?.timestamp) * 1000).toISOString()),
    ...sensors.map((sensor) =>
      column(sensor, ({ data: [sample], measured }) =>
        measured && !measured.includes(sensor) ? undefined : sample?.[sensor],
      ),
    ),
    column('shutterClosed', ({ shutterClosed }) => shutterClosed),
    ...(key === 'roomData' ? [column('peopleIs', ({ peopleIs }) => peopleIs)] : []),
  ]
}

export const sensorOperations = {
  endpointsSensorData: operation({
    method: 'GET',
    path: '/endpoints/{id}/sensor',
    tag: 'Sensors',
    scope: 'read',
    summary: 'Read the latest sample of an endpoint',
    description: 'The sample can have any age. An endpoint that never sent a sample gets 404.',
    params: { id: endpointId },
    response: Shape('webpageGetEndpointSensorDataResponse', { endpointData: SensorData }),
    example: { params: { id: exampleEndpointId }, response: { endpointData: example } },
  }),
  endpointsBulkSensorData: operation({
    method: 'GET',
    path: '/endpoints/sensor',
    tag: 'Sensors',
    scope: 'read',
    summary: 'Read the latest sample of every endpoint',
    description: 'An endpoint that never sent a sample has null.',
    query: {
      regionId: Int32('Only endpoints in this region.'),
      locationId: Int32('Only endpoints in this location.'),
      bom: Bom,
    },
    response: ListOf('webpageGetOrgSensorDataResponse', 'data', EndpointSensorData),
    csv: true,
    csvList: csvList('endpoint-sensors', 'data', EndpointSensorData, { columns: sampleColumns('endpointData') }),
    example: {
      query: { locationId: 3 },
      response: {
        data: [
          { id: exampleEndpointId, endpointData: example },
          { id: '0c4be1f2-77a4-4d0e-8a55-6f1c2b9d3e20', endpointData: null },
        ],
      },
    },
  }),
  roomsSensorData: operation({
    method: 'GET',
    path: '/rooms/{id}/sensor',
    tag: 'Sensors',
    scope: 'read',
    summary: 'Read the sample of a room, combined from its endpoints',
    description:
      'The answer combines the latest samples of the endpoints that are at most 15 minutes old (configurable): the largest number of people, and the mean of every other value that was measured. A room without such a sample gets 404.',
    params: { id: roomId },
    response: Shape('webpageGetRoomSensorDataResponse', { roomData: SensorData }),
    example: { params: { id: 7 }, response: { roomData: example } },
  }),
  roomsBulkSensorData: operation({
    method: 'GET',
    path: '/rooms/sensor',
    tag: 'Sensors',
    scope: 'read',
    summary: 'Read the sample of every room',
    description:
      'A room without a sample of the last 15 minutes (configurable) has null. An organisation without endpoints gets 400.',
    query: {
      regionId: Int32('Only rooms in this region.'),
      locationId: Int32('Only rooms in this location.'),
      bom: Bom,
    },
    response: ListOf('webpageGetOrgRoomSensorDataResponse', 'data', RoomSensorData),
    csv: true,
    csvList: csvList('room-sensors', 'data', RoomSensorData, { columns: sampleColumns('roomData') }),
    example: {
      query: { locationId: 3 },
      response: {
        data: [
          { id: 7, roomData: example },
          { id: 8, roomData: null },
        ],
      },
    },
  }),
}
