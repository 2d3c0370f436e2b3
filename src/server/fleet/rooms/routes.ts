// Connects the HTTP operations on rooms to their rules.
import { PagedList } from '../../context/answers.ts'
import type { OperationHandlers } from '../../context/handlers.ts'
import { roomsEnrolmentGet } from './enrolment.ts'
import {
  readRoomsInPages,
  roomsAssignProfile,
  roomsCreate,
  roomsDelete,
  roomsGet,
  roomsList,
  roomsRegenerateDec,
  roomsUpdate,
} from './rules.ts'

export const roomRoutes: OperationHandlers<
  | 'roomsList'
  | 'roomsGet'
  | 'roomsCreate'
  | 'roomsUpdate'
  | 'roomsDelete'
  | 'roomsRegenerateDec'
  | 'roomsEnrolmentGet'
  | 'roomsAssignProfile'
> = {
  roomsList: (ctx, { query, csv }) => (csv ? new PagedList(() => readRoomsInPages(ctx, query)) : roomsList(ctx, query)),
  roomsGet: (ctx, { params }) => roomsGet(ctx, params.id),
  roomsCreate: (ctx, { body }) => roomsCreate(ctx, body),
  roomsUpdate: (ctx, { params, body }) => roomsUpdate(ctx, params.id, body),
  roomsDelete: (ctx, { params }) => roomsDelete(ctx, params.id),
  roomsRegenerateDec: (ctx, { params }) => roomsRegenerateDec(ctx, params.id),
  roomsEnrolmentGet: (ctx, { params }) => roomsEnrolmentGet(ctx, params.id),
  roomsAssignProfile: (ctx, { params, body }) => roomsAssignProfile(ctx, params.id, body.profileId),
}
