// Connects the operations of device commands to their rules.
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
