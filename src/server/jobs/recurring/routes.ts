// Connects the HTTP operations on recurring jobs to their rules. [contract 12.recurring]
import type { OperationHandlers } from '../../context/handlers.ts'
import {
  recurringJobsCreate,
  recurringJobsDelete,
  recurringJobsGet,
  recurringJobsList,
  recurringJobsPause,
  recurringJobsResume,
  recurringJobsUpdate,
} from './rules.ts'

export const recurringJobRoutes: OperationHandlers<
  | 'recurringJobsList'
  | 'recurringJobsCreate'
  | 'recurringJobsGet'
  | 'recurringJobsUpdate'
  | 'recurringJobsPause'
  | 'recurringJobsResume'
  | 'recurringJobsDelete'
> = {
  recurringJobsList,
  recurringJobsCreate: (ctx, { body }) => recurringJobsCreate(ctx, body),
  recurringJobsGet: (ctx, { params }) => recurringJobsGet(ctx, params.id),
  recurringJobsUpdate: (ctx, { params, body }) => recurringJobsUpdate(ctx, params.id, body),
  recurringJobsPause: (ctx, { params }) => recurringJobsPause(ctx, params.id),
  recurringJobsResume: (ctx, { params }) => recurringJobsResume(ctx, params.id),
  recurringJobsDelete: (ctx, { params }) => recurringJobsDelete(ctx, params.id),
}
