// Connects the operations of endpoints to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import type { EndpointCache } from './endpoint-cache.ts'
import {
  endpointsAssignProfile,
  endpointsBasicList,
  endpointsDelete,
  endpointsGet,
  endpointsInPages,
  endpointsMoveRoom,
  endpointsUpdate,
} from './rules.ts'

export const endpointRoutes = (
  cache: EndpointCache,
): OperationHandlers<
  | 'endpointsBasicList'
  | 'endpointsGet'
  | 'endpointsUpdate'
  | 'endpointsDelete'
  | 'endpointsMoveRoom'
  | 'endpointsAssignProfile'
> => ({
  endpointsBasicList: (ctx, { query, csv }) =>
    csv ? endpointsInPages(ctx, query) : endpointsBasicList(ctx, cache, query),
  endpointsGet: (ctx, { params }) => endpointsGet(ctx, cache, params.id),
  endpointsUpdate: (ctx, { params, body }) => endpointsUpdate(ctx, params.id, body),
  endpointsDelete: (ctx, { params, query }) => endpointsDelete(ctx, params.id, query.items),
  endpointsMoveRoom: (ctx, { body }) => endpointsMoveRoom(ctx, body),
  endpointsAssignProfile: (ctx, { params, body }) => endpointsAssignProfile(ctx, params.id, body.profileId),
})
