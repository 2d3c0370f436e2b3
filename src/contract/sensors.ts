// Sensor data: the latest sample of endpoints, and of rooms as a whole. [contract 5.2]

import Type, { type Static, type TSchema } from 'typebox'
import { type Sensor, sensorRanges } from './device/models.ts'
import { exampleEndpointId } from './endpoints.ts'
import { operation } from './operation.ts'
import { Int32, ListOf, Shape } from './shape.ts'

const measured = (sensor: Sensor, what: string) =>
  Int32(`${what}, in ${sensorRanges[sensor].unit}; 0 when it was not measured.`)
const exact = (sensor: Sensor, what: string) =>
  Type.Number({ description: `${what}, in ${sensorRanges[sensor].unit}, to one decimal; 0 when it was not measured.` })

export const Sample = Shape('webpageSensorSample', {
  co2: measured('co2', 'Carbon dioxide'),
  humidity: exact('humidity', 'Relative humidity'),
  illumination: measured('illumination', 'Illumination'),
  people: measured('people', 'People seen'),
  temp: exact('temp', 'Temperature'),
  voc: measured('voc', 'Volatile organic compounds'),
  vocIndex: measured('vocIndex', 'Volatile organic compounds'),
  timestamp: Type.String({ description: 'When it was measured, Unix seconds.' }),
  ShutterClosed: Type.Optional(
    Type.Boolean({
      description:
        'Frames: whether the privacy shutter blocks the camera; other models: false. Absent under the legacy base.',
    }),
  ),
})

const SensorData = Shape('webpageSensorData', {
  data: Type.Array(Sample, { minItems: 1, maxItems: 1, description: 'The one latest sample.' }),
  shutterClosed: Type.Boolean({ description: 'The value of the sample, repeated for clients that look here.' }),
})
export type SensorData = Static<typeof SensorData>

const orNull = <S extends TSchema>(shape: S) => Type.Union([shape, Type.Null()])
const endpointId = Type.String({ format: 'uuid', description: 'Identifier of the endpoint.' })
const roomId = Int32('Identifier of the room.')

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
}

export const sensorOperations = {
  endpointsSensorData: operation({
    method: 'GET',
    path: '/endpoints/{id}/sensor',
    tag: 'Sensors',
    scope: 'read',
    summary: 'Read the latest sample of an endpoint',
    description: 'However old it is; 404 when there was none yet.',
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
    query: { regionId: Int32('Only endpoints in this region.'), locationId: Int32('Only endpoints in this location.') },
    response: ListOf(
      'webpageGetOrgSensorDataResponse',
      'data',
      Shape('webpageEndpointSensorData', { id: endpointId, endpointData: orNull(SensorData) }),
    ),
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
    summary: 'Read the sample of a room: its endpoints taken together',
    description:
      'The latest samples that are at most 15 minutes old, unless configured otherwise, as one: the most people that one endpoint sees, the mean of everything else. 404 when there is none.',
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
      'A room without a sample of the last 15 minutes, unless configured otherwise, has null. An organisation without endpoints gets 400.',
    query: { regionId: Int32('Only rooms in this region.'), locationId: Int32('Only rooms in this location.') },
    response: ListOf(
      'webpageGetOrgRoomSensorDataResponse',
      'data',
      Shape('webpageRoomSensorData', { id: roomId, roomData: orNull(SensorData) }),
    ),
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
