// Connects the HTTP operations on the connection history to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import { endpointsConnections, roomsConnections } from './rules.ts'

export const connectionRoutes: OperationHandlers<'endpointsConnections' | 'roomsConnections'> = {
  endpointsConnections: (ctx, { params, query, csv }) => endpointsConnections(ctx, params.id, query, csv),
  roomsConnections: (ctx, { params, query, csv }) => roomsConnections(ctx, params.id, query, csv),
}
