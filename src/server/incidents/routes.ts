// Connects the HTTP operations on incidents to their rules.
import type { OperationHandlers } from '../context/handlers.ts'
import {
  incidentsAcknowledge,
  incidentsAssign,
  incidentsComment,
  incidentsResolve,
  incidentsSnooze,
} from './actions.ts'
import { incidentsGet, incidentsList } from './rules.ts'

export const incidentRoutes: OperationHandlers<
  | 'incidentsList'
  | 'incidentsGet'
  | 'incidentsAcknowledge'
  | 'incidentsResolve'
  | 'incidentsComment'
  | 'incidentsAssign'
  | 'incidentsSnooze'
> = {
  incidentsList: (ctx, { query }) => incidentsList(ctx, query),
  incidentsGet: (ctx, { params }) => incidentsGet(ctx, params.id),
  incidentsAcknowledge: (ctx, { params, body }) => incidentsAcknowledge(ctx, params.id, body),
  incidentsResolve: (ctx, { params, body }) => incidentsResolve(ctx, params.id, body),
  incidentsComment: (ctx, { params, body }) => incidentsComment(ctx, params.id, body),
  incidentsAssign: (ctx, { params, body }) => incidentsAssign(ctx, params.id, body),
  incidentsSnooze: (ctx, { params, body }) => incidentsSnooze(ctx, params.id, body),
}
