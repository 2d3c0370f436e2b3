// The doors to operations: what devices are asked to do, and how far they are.
import type { OperationHandlers } from '../../http/handlers.ts'
import {
  endpointsOperationsList,
  endpointsReboot,
  endpointsSendMessage,
  operationsCancel,
  operationsGet,
  roomsSendMessage,
} from './rules.ts'

export const commandRoutes: OperationHandlers<
  | 'endpointsReboot'
  | 'endpointsSendMessage'
  | 'roomsSendMessage'
  | 'endpointsOperationsList'
  | 'operationsGet'
  | 'operationsCancel'
> = {
  endpointsReboot: (ctx, { params }) => endpointsReboot(ctx, params.id),
  endpointsSendMessage: (ctx, { body }) => endpointsSendMessage(ctx, body),
  roomsSendMessage: (ctx, { body }) => roomsSendMessage(ctx, body),
  endpointsOperationsList: (ctx, { params }) => endpointsOperationsList(ctx, params.id),
  operationsGet: (ctx, { params }) => operationsGet(ctx, params.id),
  operationsCancel: (ctx, { params }) => operationsCancel(ctx, params.id),
}
