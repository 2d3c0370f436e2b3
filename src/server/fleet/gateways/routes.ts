// Connects the operations on gateways and their items to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import {
  driversList,
  gatewayDevicesCreate,
  gatewayDevicesDelete,
  gatewayDevicesGet,
  gatewayDevicesList,
  gatewayDevicesRetry,
  gatewayDevicesUpdate,
  gatewaysList,
} from './rules.ts'
import { gatewayDevicesTest } from './tests.ts'

export const gatewayRoutes: OperationHandlers<
  | 'driversList'
  | 'gatewaysList'
  | 'gatewayDevicesList'
  | 'gatewayDevicesGet'
  | 'gatewayDevicesCreate'
  | 'gatewayDevicesUpdate'
  | 'gatewayDevicesDelete'
  | 'gatewayDevicesRetry'
  | 'gatewayDevicesTest'
> = {
  driversList,
  gatewaysList,
  gatewayDevicesList: (ctx, { params }) => gatewayDevicesList(ctx, params.id),
  gatewayDevicesGet: (ctx, { params }) => gatewayDevicesGet(ctx, params.id, params.deviceId),
  gatewayDevicesCreate: (ctx, { params, body }) => gatewayDevicesCreate(ctx, params.id, body),
  gatewayDevicesUpdate: (ctx, { params, body }) => gatewayDevicesUpdate(ctx, params.id, params.deviceId, body),
  gatewayDevicesDelete: (ctx, { params, query }) =>
    gatewayDevicesDelete(ctx, params.id, params.deviceId, query.unenrol),
  gatewayDevicesRetry: (ctx, { params }) => gatewayDevicesRetry(ctx, params.id, params.deviceId),
  gatewayDevicesTest: (ctx, { params, body }) => gatewayDevicesTest(ctx, params.id, body),
}
