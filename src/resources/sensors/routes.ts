// The doors to sensor data.
import type { Handlers } from '../../platform/http/handlers.ts'
import { endpointsBulkSensorData, endpointsSensorData, roomsBulkSensorData, roomsSensorData } from './rules.ts'

export const sensorRoutes: Handlers<
  'endpointsSensorData' | 'endpointsBulkSensorData' | 'roomsSensorData' | 'roomsBulkSensorData'
> = {
  endpointsSensorData: (by, { params, legacy }) => endpointsSensorData(by, params.id, legacy),
  endpointsBulkSensorData: (by, { query, legacy }) => endpointsBulkSensorData(by, query, legacy),
  roomsSensorData: (by, { params, legacy }) => roomsSensorData(by, params.id, legacy),
  roomsBulkSensorData: (by, { query, legacy }) => roomsBulkSensorData(by, query, legacy),
}
