// Connects the operations of sensor data to their rules.
import type { OperationHandlers } from '../context/handlers.ts'
import { endpointsSensorHistory, roomsSensorHistory, roomsSensorHistoryAll } from './history/rules.ts'
import type { LatestSampleCache } from './latest/cache.ts'
import { endpointsBulkSensorData, endpointsSensorData, roomsBulkSensorData, roomsSensorData } from './rules.ts'

export const sensorRoutes = (
  latest: LatestSampleCache,
): OperationHandlers<
  | 'endpointsSensorData'
  | 'endpointsBulkSensorData'
  | 'roomsSensorData'
  | 'roomsBulkSensorData'
  | 'endpointsSensorHistory'
  | 'roomsSensorHistory'
  | 'roomsSensorHistoryAll'
> => ({
  endpointsSensorData: (ctx, { params, legacy }) => endpointsSensorData(ctx, params.id, legacy),
  endpointsBulkSensorData: (ctx, { query, legacy }) => endpointsBulkSensorData(ctx, latest, query, legacy),
  roomsSensorData: (ctx, { params, legacy }) => roomsSensorData(ctx, params.id, legacy),
  roomsBulkSensorData: (ctx, { query, legacy }) => roomsBulkSensorData(ctx, latest, query, legacy),
  endpointsSensorHistory: (ctx, { params, query, csv }) => endpointsSensorHistory(ctx, params.id, query, csv),
  roomsSensorHistory: (ctx, { params, query, csv }) => roomsSensorHistory(ctx, params.id, query, csv),
  roomsSensorHistoryAll: (ctx, { query }) => roomsSensorHistoryAll(ctx, query),
})
