// A job as the API returns it, which steps its state allows, and the queries that read jobs. [contract 12.job]
import { queryOptions } from '@tanstack/react-query'
import type { CallInput } from '../../../client/client.ts'
import { type JobActionType, jobActions } from '../../../contract/jobs/action-table.ts'
import { finalJobStates, type JobState, type JobStep, statesForStep } from '../../../contract/jobs/job-states.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import type { Permissions } from '../../../contract/people/permissions.ts'
import { operationQuery, queryKeyOf } from '../../api.ts'
import { client } from '../../session.ts'

export type ListedJob = ResponseOf<Operations['jobsList']>['jobs'][number]
export type JobDetails = ResponseOf<Operations['jobsGet']>
export type JobUnit = ResponseOf<Operations['jobsRoomsList']>['rooms'][number]
export type Plan = ResponseOf<Operations['jobsPlan']>
export type PlannedUnit = Plan['rooms'][number]
/** The body of jobsPlan and jobsCreate. */
export type JobDraft = CallInput<'jobsPlan'>['body']
export type PlannedAction = JobDraft['action']

export const hasJobEnded = (state: JobState): boolean => finalJobStates.some((one) => one === state)

export const mayRunAction = (type: JobActionType, permissions: Permissions): boolean =>
  permissions[jobActions[type].needs]

/** Without stages all rooms begin together, so a failure stops nothing: the others keep the change until a person undoes it. */
export const noFailureLimit = { percent: 100 } satisfies JobDraft['failures']

export const allowsStep = (job: Pick<ListedJob, 'state' | 'canRollBack'>, step: JobStep): boolean =>
  step === 'rollBack' ? job.canRollBack : statesForStep[step].includes(job.state)

/** A rollback that waits for change windows, empty rooms or the pace can be hurried. */
export const allowsRollBackNow = ({ state, rollsBackNow }: Pick<ListedJob, 'state' | 'rollsBackNow'>): boolean =>
  state === 'ROLLING_BACK' && rollsBackNow !== true

/** Units that a retry would try again. */
export const retryableCount = ({ counts }: Pick<ListedJob, 'counts'>): number =>
  (counts.FAILED ?? 0) + (counts.EXPIRED ?? 0)

/** Units that the job has begun to change, and that a rollback is about. */
export const changedCount = ({ counts }: Pick<ListedJob, 'counts'>): number =>
  (counts.RUNNING ?? 0) + (counts.SOAKING ?? 0) + (counts.SUCCEEDED ?? 0) + (counts.FAILED ?? 0)

/** A plan is read like any answer: asking for it writes nothing. */
export const planQuery = (body: JobDraft) => operationQuery('jobsPlan', { body })

const pageSizeRows = 1000
/** Jobs are kept for 400 days; older ones than these are found by their address. */
const maxPages = 5

/** The key begins with the operation, so that an event invalidates the query. */
export const jobsQuery = (filter: CallInput<'jobsList'> = {}) =>
  queryOptions({
    queryKey: [...queryKeyOf('jobsList', filter), 'all pages'],
    queryFn: async ({ signal }) => {
      const jobs: ListedJob[] = []
      let pageToken = ''
      for (let page = 0; page < maxPages; page++) {
        const input = { ...filter, pageSize: pageSizeRows, ...(pageToken && { pageToken }) }
        const { body } = await client().jobsList(input, { signal })
        jobs.push(...body.jobs)
        pageToken = body.nextPageToken
        if (pageToken === '') break
      }
      return jobs
    },
  })
