// The doors to sensor data.
import type { Handlers } from '../../http/handlers.ts'
import { endpointsSensorHistory, roomsSensorHistory } from './history/rules.ts'
import type { Latest } from './latest/cache.ts'
import { endpointsBulkSensorData, endpointsSensorData, roomsBulkSensorData, roomsSensorData } from './rules.ts'

export const sensorRoutes = (
  latest: Latest,
): Handlers<
  | 'endpointsSensorData'
  | 'endpointsBulkSensorData'
  | 'roomsSensorData'
  | 'roomsBulkSensorData'
  | 'endpointsSensorHistory'
  | 'roomsSensorHistory'
> => ({
  endpointsSensorData: (by, { params, legacy }) => endpointsSensorData(by, params.id, legacy),
  endpointsBulkSensorData: (by, { query, legacy }) => endpointsBulkSensorData(by, latest, query, legacy),
  roomsSensorData: (by, { params, legacy }) => roomsSensorData(by, params.id, legacy),
  roomsBulkSensorData: (by, { query, legacy }) => roomsBulkSensorData(by, latest, query, legacy),
  endpointsSensorHistory: (by, { params, query, csv }) => endpointsSensorHistory(by, params.id, query, csv),
  roomsSensorHistory: (by, { params, query, csv }) => roomsSensorHistory(by, params.id, query, csv),
})
