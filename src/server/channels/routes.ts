// Connects the HTTP operations on channels and deliveries to their rules.
import type { OperationHandlers } from '../context/handlers.ts'
import type { OutboundClient } from '../outbound/outbound-fetch.ts'
import { channelsTest, deliveriesList, deliveriesReplay } from './deliveries.ts'
import {
  channelsCreate,
  channelsDelete,
  channelsGet,
  channelsList,
  channelsRotateSecret,
  channelsUpdate,
} from './rules.ts'

export const channelRoutes = (
  outbound: OutboundClient,
): OperationHandlers<
  | 'channelsList'
  | 'channelsGet'
  | 'channelsCreate'
  | 'channelsUpdate'
  | 'channelsDelete'
  | 'channelsTest'
  | 'channelsRotateSecret'
  | 'deliveriesList'
  | 'deliveriesReplay'
> => ({
  channelsList,
  channelsGet: (ctx, { params }) => channelsGet(ctx, params.id),
  channelsCreate: (ctx, { body }) => channelsCreate(ctx, body, outbound),
  channelsUpdate: (ctx, { params, body }) => channelsUpdate(ctx, params.id, body, outbound),
  channelsDelete: (ctx, { params }) => channelsDelete(ctx, params.id),
  channelsTest: (ctx, { params }) => channelsTest(ctx, params.id),
  channelsRotateSecret: (ctx, { params, body }) => channelsRotateSecret(ctx, params.id, body.overlapHours),
  deliveriesList: (ctx, { params, query }) => deliveriesList(ctx, params.id, query),
  deliveriesReplay: (ctx, { params, body }) => deliveriesReplay(ctx, params.id, body),
})
