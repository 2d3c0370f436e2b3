// Connects the operations of device commands to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import {
  endpointsOperationsList,
  endpointsPower,
  endpointsReboot,
  endpointsSendMessage,
  operationsCancel,
  operationsGet,
  operationsList,
  roomsSendMessage,
} from './rules.ts'

export const commandRoutes: OperationHandlers<
  | 'endpointsReboot'
  | 'endpointsPower'
  | 'endpointsSendMessage'
  | 'roomsSendMessage'
  | 'endpointsOperationsList'
  | 'operationsList'
  | 'operationsGet'
  | 'operationsCancel'
> = {
  endpointsReboot: (ctx, { params, body }) => endpointsReboot(ctx, params.id, body),
  endpointsPower: (ctx, { params, body }) => endpointsPower(ctx, params.id, body),
  endpointsSendMessage: (ctx, { body }) => endpointsSendMessage(ctx, body),
  roomsSendMessage: (ctx, { body }) => roomsSendMessage(ctx, body),
  endpointsOperationsList: (ctx, { params }) => endpointsOperationsList(ctx, params.id),
  operationsList: (ctx) => operationsList(ctx),
  operationsGet: (ctx, { params }) => operationsGet(ctx, params.id),
  operationsCancel: (ctx, { params }) => operationsCancel(ctx, params.id),
}
