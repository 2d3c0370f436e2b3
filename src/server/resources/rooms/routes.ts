// The doors to rooms.
import type { Handlers } from '../../http/handlers.ts'
import { roomsEnrolmentGet } from './enrolment.ts'
import {
  roomsAssignProfile,
  roomsCreate,
  roomsDelete,
  roomsGet,
  roomsList,
  roomsRegenerateDec,
  roomsUpdate,
} from './rules.ts'

export const roomRoutes: Handlers<
  | 'roomsList'
  | 'roomsGet'
  | 'roomsCreate'
  | 'roomsUpdate'
  | 'roomsDelete'
  | 'roomsRegenerateDec'
  | 'roomsEnrolmentGet'
  | 'roomsAssignProfile'
> = {
  roomsList: (by, { query }) => roomsList(by, query),
  roomsGet: (by, { params }) => roomsGet(by, params.id),
  roomsCreate: (by, { body }) => roomsCreate(by, body),
  roomsUpdate: (by, { params, body }) => roomsUpdate(by, params.id, body),
  roomsDelete: (by, { params }) => roomsDelete(by, params.id),
  roomsRegenerateDec: (by, { params }) => roomsRegenerateDec(by, params.id),
  roomsEnrolmentGet: (by, { params }) => roomsEnrolmentGet(by, params.id),
  roomsAssignProfile: (by, { params, body }) => roomsAssignProfile(by, params.id, body.profileId),
}
