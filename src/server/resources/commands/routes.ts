// The doors to operations: what devices are asked to do, and how far they are.
import type { Handlers } from '../../http/handlers.ts'
import {
  endpointsOperationsList,
  endpointsReboot,
  endpointsSendMessage,
  operationsCancel,
  operationsGet,
  roomsSendMessage,
} from './rules.ts'

export const operationRoutes: Handlers<
  | 'endpointsReboot'
  | 'endpointsSendMessage'
  | 'roomsSendMessage'
  | 'endpointsOperationsList'
  | 'operationsGet'
  | 'operationsCancel'
> = {
  endpointsReboot: (by, { params }) => endpointsReboot(by, params.id),
  endpointsSendMessage: (by, { body }) => endpointsSendMessage(by, body),
  roomsSendMessage: (by, { body }) => roomsSendMessage(by, body),
  endpointsOperationsList: (by, { params }) => endpointsOperationsList(by, params.id),
  operationsGet: (by, { params }) => operationsGet(by, params.id),
  operationsCancel: (by, { params }) => operationsCancel(by, params.id),
}
