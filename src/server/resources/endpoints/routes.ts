// The doors to endpoints.
import type { Handlers } from '../../http/handlers.ts'
import type { KeptEndpoints } from './endpoint-cache.ts'
import {
  endpointsAssignProfile,
  endpointsBasicList,
  endpointsDelete,
  endpointsGet,
  endpointsMoveRoom,
} from './rules.ts'

export const endpointRoutes = (
  kept: KeptEndpoints,
): Handlers<
  'endpointsBasicList' | 'endpointsGet' | 'endpointsDelete' | 'endpointsMoveRoom' | 'endpointsAssignProfile'
> => ({
  endpointsBasicList: (by, { query }) => endpointsBasicList(by, kept, query),
  endpointsGet: (by, { params }) => endpointsGet(by, kept, params.id),
  endpointsDelete: (by, { params }) => endpointsDelete(by, params.id),
  endpointsMoveRoom: (by, { body }) => endpointsMoveRoom(by, body),
  endpointsAssignProfile: (by, { params, body }) => endpointsAssignProfile(by, params.id, body.profileId),
})
