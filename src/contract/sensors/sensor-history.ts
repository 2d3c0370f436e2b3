// Sensor history: what endpoints and rooms measured, over time. [contract 6.sensorHistory]
import Type, { type TOptional, type TSchema } from 'typebox'
import { type Sensor, sensorRanges, sensors } from '../device/models.ts'
import { exampleEndpointId } from '../fleet/endpoints.ts'
import { operation } from '../operation.ts'
import { Bom, Int32, OneOf, QueryTimeOrDay, RequiredQueryTimeOrDay, Shape, Timestamp } from '../shape.ts'

export const intervals = ['raw', '5m', '15m', '1h', '1d'] as const
export type Interval = (typeof intervals)[number]

/** One optional property for each sensor: a value that was not measured is absent. */
const ofSensors = <S extends TSchema>(shapeOf: (sensor: Sensor) => S) =>
  Object.fromEntries(sensors.map((sensor) => [sensor, Type.Optional(shapeOf(sensor))])) as Record<Sensor, TOptional<S>>

const Statistics = Shape('webpageSensorStatistics', {
  min: Type.Number({ description: 'The smallest value.' }),
  max: Type.Number({ description: 'The largest value.' }),
  mean: Type.Number({ description: 'The mean of all values, rounded to two decimals.' }),
  count: Type.Integer({ minimum: 1, description: 'How many samples have this value.' }),
})

const Bucket = Shape('webpageSensorBucket', {
  start: Timestamp('Start of the bucket.'),
  day: Type.Optional(
    Type.String({ format: 'date', description: 'Calendar day of the bucket in the time zone, for the interval 1d.' }),
  ),
  ...ofSensors(() => Statistics),
})

const RawSample = Shape('webpageSensorHistorySample', {
  timestamp: Type.String({ description: 'Time of the measurement, Unix seconds.' }),
  endpointId: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'The endpoint that sent the sample, in the history of a room. The endpoint can have been unenrolled since. Absent if the caller may not see the endpoint now.',
    }),
  ),
  ...ofSensors((sensor) => Type.Number({ description: `Measured value (unit: ${sensorRanges[sensor].unit}).` })),
})

const History = Shape('webpageSensorHistory', {
  interval: OneOf(intervals, 'Interval of the request.'),
  timezone: Type.String({ description: 'The time zone in which days begin.' }),
  buckets: Type.Optional(
    Type.Array(Bucket, {
      description: 'The buckets, oldest first; buckets without a value are left out. Absent for `raw`.',
    }),
  ),
  samples: Type.Optional(Type.Array(RawSample, { description: 'The samples, oldest first. Only for `raw`.' })),
  nextPageToken: Type.String({ description: 'Token of the next page; empty on the last page.' }),
})

const query = {
  from: RequiredQueryTimeOrDay('Start of the window, inclusive. A date alone is midnight in the time zone.'),
  to: QueryTimeOrDay('End of the window, exclusive; default now. A date alone is midnight in the time zone.'),
  interval: OneOf(
    intervals,
    'Length of a bucket; default 15m. `raw` means single samples. Buckets of 1d are calendar days of the time zone; all others are aligned to UTC.',
  ),
  fields: Type.String({ description: `Only these sensors, separated by commas: ${sensors.join(', ')}. Default: all.` }),
  timezone: Type.String({
    description:
      'Time zone in which days begin, for example Europe/Oslo, or an offset of whole quarters of an hour; default: the time zone of the organisation.',
  }),
  pageSize: Int32('Buckets or samples per page: 0 or absent means 1000, more than 3000 means 3000.'),
  pageToken: Type.String({
    description: 'The `nextPageToken` of the page before; only with the same query. `pageSize` may change.',
  }),
  bom: Bom,
}

const description = (subject: string) =>
  `${subject} The first and the last bucket also include samples outside of the window. Each bucket has the smallest, the largest and the mean value, and the number of samples. ` +
  'A value that was not measured is absent, never 0. An empty `nextPageToken` ends the paging. How long each interval is stored can be configured. ' +
  'With `Accept: text/csv` the whole window is streamed: `start`, `day` for 1d, then `co2_min`, `co2_max`, `co2_mean`, `co2_count` ' +
  'and so on; for raw `time`, `endpointId` for a room, then the fields.'

const { pageSize: _, pageToken: __, ...windowQuery } = query
/** A window of roomsSensorHistoryAll has at most this many days: a year, and a day on which its clocks may change. */
export const maxHistoryAllDays = 366

const exampleQuery = { from: '2026-11-15T00:00:00Z', to: '2026-11-16T00:00:00Z' }

export const sensorHistoryOperations = {
  endpointsSensorHistory: operation({
    method: 'GET',
    path: '/endpoints/{id}/sensor/history',
    tag: 'Sensors',
    scope: 'read',
    summary: 'Read the sensor history of an endpoint',
    description: description('The history has all samples of the endpoint, whatever room it was in.'),
    params: { id: Type.String({ format: 'uuid', description: 'Identifier of the endpoint.' }) },
    query,
    response: History,
    csv: true,
    example: {
      params: { id: exampleEndpointId },
      query: { ...exampleQuery, interval: '1d', fields: 'co2,temp', timezone: 'Europe/Oslo' },
      response: {
        interval: '1d',
        timezone: 'Europe/Oslo',
        buckets: [
          {
            start: '2026-11-14T23:00:00.000Z',
            day: '2026-11-15',
            co2: { min: 410, max: 1260, mean: 655.33, count: 1437 },
            temp: { min: 19.5, max: 22.4, mean: 21.07, count: 1437 },
          },
        ],
        nextPageToken: '',
      },
    },
  }),
  roomsSensorHistory: operation({
    method: 'GET',
    path: '/rooms/{id}/sensor/history',
    tag: 'Sensors',
    scope: 'read',
    summary: 'Read the sensor history of a room',
    description: description(
      'The history has the samples of all endpoints together. A sample belongs to the room that its endpoint was in at that time.',
    ),
    params: { id: Int32('Identifier of the room.') },
    query,
    response: History,
    csv: true,
    example: {
      params: { id: 7 },
      query: { ...exampleQuery, interval: 'raw', fields: 'co2,people' },
      response: {
        interval: 'raw',
        timezone: 'Europe/Oslo',
        samples: [{ timestamp: '1794700800', endpointId: exampleEndpointId, co2: 420, people: 4 }],
        nextPageToken: '',
      },
    },
  }),
  roomsSensorHistoryAll: operation({
    method: 'GET',
    path: '/rooms/sensor/history',
    tag: 'Sensors',
    scope: 'read',
    summary: 'Download the sensor history of all rooms as CSV',
    description: `One row for each bucket of each room, by room and then by time: \`roomId\`, \`roomName\`, \`locationId\`, \`locationName\`, then the columns of the CSV of roomsSensorHistory. The window has at most ${maxHistoryAllDays} days.`,
    query: {
      ...windowQuery,
      interval: OneOf(['15m', '1h', '1d'], 'Length of a bucket; default 15m.'),
      regionId: Int32('Only rooms in this region.'),
      locationId: Int32('Only rooms in this location.'),
    },
    response: Type.String(),
    download: 'text/csv',
    example: { query: { ...exampleQuery, interval: '1h', fields: 'co2' }, response: '' },
  }),
}
