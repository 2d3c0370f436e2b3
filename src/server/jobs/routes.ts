// Connects the operations on jobs to their rules. [contract 12.job]
import type { OperationHandlers } from '../context/handlers.ts'
import { jobsCreate } from './create.ts'
import { jobsPlan } from './plan/plan.ts'
import { jobsGet, jobsList, jobsRoomsList } from './rules.ts'
import { jobsCancel, jobsPause, jobsResume, jobsRetry, jobsRollBack, jobsStart } from './steps.ts'

export const jobRoutes: OperationHandlers<
  | 'jobsPlan'
  | 'jobsCreate'
  | 'jobsList'
  | 'jobsGet'
  | 'jobsRoomsList'
  | 'jobsStart'
  | 'jobsPause'
  | 'jobsResume'
  | 'jobsCancel'
  | 'jobsRollBack'
  | 'jobsRetry'
> = {
  jobsPlan: (ctx, { body }) => jobsPlan(ctx, body),
  jobsCreate: (ctx, { body }) => jobsCreate(ctx, body),
  jobsList: (ctx, { query }) => jobsList(ctx, query),
  jobsGet: (ctx, { params }) => jobsGet(ctx, params.id),
  jobsRoomsList: (ctx, { params, query }) => jobsRoomsList(ctx, params.id, query),
  jobsStart: (ctx, { params }) => jobsStart(ctx, params.id),
  jobsPause: (ctx, { params }) => jobsPause(ctx, params.id),
  jobsResume: (ctx, { params }) => jobsResume(ctx, params.id),
  jobsCancel: (ctx, { params, body }) => jobsCancel(ctx, params.id, body),
  jobsRollBack: (ctx, { params, body }) => jobsRollBack(ctx, params.id, body),
  jobsRetry: (ctx, { params }) => jobsRetry(ctx, params.id),
}
