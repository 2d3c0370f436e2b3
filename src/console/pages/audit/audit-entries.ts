// The entries of a window: loaded page by page, and narrowed down to what somebody looks for.
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Static } from 'typebox'
import type { AuditEntry } from '../../../contract/audit.ts'
import { queryKeyOf } from '../../api.ts'
import type { AuditWindow } from '../../domain/audit/audit-window.ts'
import { includesAll, normalizeText, searchWords } from '../../parts/text/search-text.ts'
import { humanize } from '../../parts/text/words.ts'
import { client } from '../../session.ts'

export type Entry = Static<typeof AuditEntry>
export type Target = Entry['target']

export const pageSize = 200

/** Events make it old by the name of its operation, as all others; then what is loaded is asked for again. */
export function useEntries({ from, to }: AuditWindow) {
  const asked = useInfiniteQuery({
    queryKey: [...queryKeyOf('auditLogs', { from, to }), 'pages'],
    queryFn: async ({ pageParam, signal }) =>
      (await client().auditLogs({ from, to, pageSize, pageToken: pageParam }, { signal })).body,
    initialPageParam: '',
    getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
    placeholderData: keepPreviousData,
    enabled: from < to,
  })
  const pages = asked.data?.pages
  const entries = useMemo(() => pages?.flatMap(({ logs }) => logs), [pages])
  return { ...asked, entries }
}

interface Wanted {
  readonly category?: string | undefined
  readonly type?: string | undefined
  readonly q?: string | undefined
}

export function fitting(entries: readonly Entry[], { category, type, q = '' }: Wanted): readonly Entry[] {
  const words = searchWords(q)
  return entries.filter(
    (entry) =>
      (category === undefined || entry.category === category) &&
      (type === undefined || entry.type === type) &&
      (words.length === 0 || includesAll(normalizeText(textOf(entry)), words)),
  )
}

const textOf = ({ actor, target, type, details, requestId = '', ip = '' }: Entry) =>
  [actor.name, target.name, humanize(type), requestId, ip, ...(details.affected ?? []).map(({ name }) => name)].join(
    ' ',
  )

export const nameOf = ({ type, id }: Pick<Target, 'type' | 'id'>): string => `${type} ${id}`

const endings = /_(DELETED|REMOVED|REVOKED)$/

/** What the entries say is no longer there. The newest come first, so what is gone is known before what it was. */
export function goneIn(entries: readonly Entry[]): ReadonlySet<string> {
  const gone = new Set<string>()
  for (const { type, target, details } of entries) {
    if (!endings.test(type)) continue
    gone.add(nameOf(target))
    // A room takes its devices along; a location or a region frees what was in it.
    if (target.type === 'room') for (const also of details.affected ?? []) gone.add(nameOf(also))
  }
  return gone
}
