// Connects the operations on sources to their rules.
import type { OperationHandlers } from '../../context/handlers.ts'
import { sourceDevicesList, sourceDevicesUpdate } from './devices.ts'
import { sourcesCreate, sourcesDelete, sourcesGet, sourcesList, sourcesUpdate } from './rules.ts'
import { sourcesLink, sourcesStructure } from './structure.ts'
import { sourcesTest } from './tests.ts'

export const sourceRoutes: OperationHandlers<
  | 'sourcesList'
  | 'sourcesGet'
  | 'sourcesCreate'
  | 'sourcesUpdate'
  | 'sourcesDelete'
  | 'sourcesTest'
  | 'sourcesStructure'
  | 'sourcesLink'
  | 'sourceDevicesList'
  | 'sourceDevicesUpdate'
> = {
  sourcesList,
  sourcesGet: (ctx, { params }) => sourcesGet(ctx, params.id),
  sourcesCreate: (ctx, { body }) => sourcesCreate(ctx, body),
  sourcesUpdate: (ctx, { params, body }) => sourcesUpdate(ctx, params.id, body),
  sourcesDelete: (ctx, { params, query }) => sourcesDelete(ctx, params.id, query.unenrol),
  sourcesTest: (ctx, { body }) => sourcesTest(ctx, body),
  sourcesStructure: (ctx, { params }) => sourcesStructure(ctx, params.id),
  sourcesLink: (ctx, { params, body }) => sourcesLink(ctx, params.id, body.links),
  sourceDevicesList: (ctx, { params, query }) => sourceDevicesList(ctx, params.id, query),
  sourceDevicesUpdate: (ctx, { params, body }) => sourceDevicesUpdate(ctx, params.id, body.devices),
}
