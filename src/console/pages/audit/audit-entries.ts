// Reads the audit entries of a period that match the filters, page by page. The entries of a job are one row.
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo } from 'react'
import type { Static } from 'typebox'
import type { CallInput } from '../../../client/client.ts'
import type { AuditEntry } from '../../../contract/journal/audit.ts'
import { queryKeyOf } from '../../api.ts'
import type { AuditWindow } from '../../domain/journal/audit/audit-window.ts'
import { client } from '../../session.ts'

export type AuditLogEntry = Static<typeof AuditEntry>
export type AuditTarget = NonNullable<AuditLogEntry['target']>
export type EntryFilter = Pick<CallInput<'auditLogs'>, 'category' | 'type' | 'actor' | 'target' | 'jobId' | 'text'>

export const entriesPerPage = 200
/** With fewer entries further pages are read without a click: a page of a filter can have few entries, or none. */
const minEntriesShown = 30
/** So many pages are read without a click: the server reads up to 5,000 entries for each, and again when entries are added. */
const maxPagesUnasked = 4

/** The key begins with the operation, so that an event invalidates the query; then all loaded pages are read again. */
export function useAuditEntries({ from, to }: AuditWindow, filter: EntryFilter) {
  const input = { from, to, ...filter, pageSize: entriesPerPage, foldJobs: filter.jobId === undefined }
  const query = useInfiniteQuery({
    queryKey: [...queryKeyOf('auditLogs', input), 'pages'],
    queryFn: async ({ pageParam, signal }) =>
      (await client().auditLogs({ ...input, pageToken: pageParam }, { signal })).body,
    initialPageParam: '',
    getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
    placeholderData: keepPreviousData,
    enabled: from < to,
  })
  const { hasNextPage, isFetching, isFetchNextPageError, isPlaceholderData, fetchNextPage } = query
  const pages = query.data?.pages
  const entries = useMemo(() => pages && foldedEntries(pages.flatMap(({ logs }) => logs)), [pages])
  const readMore = useCallback(() => void fetchNextPage({ cancelRefetch: false }), [fetchNextPage])
  const needsMore = (entries?.length ?? 0) < minEntriesShown && (pages?.length ?? 0) < maxPagesUnasked
  const readsOn = hasNextPage && needsMore && !isFetchNextPageError && !isPlaceholderData
  useEffect(() => {
    if (readsOn && !isFetching) readMore()
  }, [readsOn, isFetching, readMore])
  return { ...query, entries, readMore, isSearching: readsOn || isPlaceholderData }
}

/** The server folds the entries of a job within a page; here the rows of one job on several pages become one. */
export function foldedEntries(entries: readonly AuditLogEntry[]): readonly AuditLogEntry[] {
  const rows = new Map<string, AuditLogEntry>()
  for (const entry of entries) {
    const { jobEntryCount = 1, details } = entry
    const isOfJob = entry.jobEntryCount !== undefined && details?.jobId !== undefined
    const key = isOfJob ? `job ${details.jobId}` : entry.id
    const newest = rows.get(key)
    rows.set(key, newest ? { ...newest, jobEntryCount: (newest.jobEntryCount ?? 1) + jobEntryCount } : entry)
  }
  return [...rows.values()]
}

/** How many entries the rows stand for. */
export const entryCountOf = (rows: readonly AuditLogEntry[]): number =>
  rows.reduce((sum, { jobEntryCount = 1 }) => sum + jobEntryCount, 0)

/** The job whose entries the row stands for; undefined for a row of one entry. */
export const foldedJobOf = ({ jobEntryCount = 1, details }: AuditLogEntry): string | undefined =>
  jobEntryCount > 1 ? details?.jobId : undefined
