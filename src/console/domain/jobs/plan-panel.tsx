// Reads the plan of a job that does not exist yet, and shows it. [contract 12.plan]
import { useQuery } from '@tanstack/react-query'
import { ErrorPanel, Loading } from '../../parts/page/page.tsx'
import { type JobDraft, planQuery } from './job.ts'
import { PlanSummary } from './plan-summary.tsx'

/** The name is not part of what is planned, so typing it asks for no new plan. */
export const usePlan = (draft: JobDraft) =>
  useQuery({ ...planQuery({ ...draft, name: 'Plan' }), refetchOnMount: 'always', retry: false })

interface PlanPanelProps {
  readonly plan: ReturnType<typeof usePlan>
  readonly draft: JobDraft
}

export function PlanPanel({ plan: { data, error, refetch }, draft }: PlanPanelProps) {
  if (data) return <PlanSummary plan={data.body} draft={draft} />
  return error ? <ErrorPanel error={error} onRetry={() => void refetch()} /> : <Loading />
}
