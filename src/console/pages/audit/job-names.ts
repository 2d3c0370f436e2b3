// Names the jobs that entries of the audit log are about.
import { useQuery } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { jobsQuery } from '../../domain/jobs/job.ts'

/** A job that is no longer in the list has its number. */
export function useJobName(): (id: string) => string {
  const jobs = useQuery(jobsQuery()).data
  const names = useMemo(() => new Map(jobs?.map(({ id, name }) => [id, name])), [jobs])
  return useCallback((id) => names.get(id) ?? `Job ${id}`, [names])
}
