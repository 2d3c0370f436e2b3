// Loads the audit entries of a period page by page, and filters them.
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Static } from 'typebox'
import type { AuditEntry } from '../../../contract/journal/audit.ts'
import { includesAll, normalizeText, searchWords } from '../../../contract/search-text.ts'
import { operationQuery, queryKeyOf } from '../../api.ts'
import { deviceName } from '../../domain/fleet/device/device.ts'
import { actionName } from '../../domain/journal/audit/action-names.ts'
import type { AuditWindow } from '../../domain/journal/audit/audit-window.ts'
import { client } from '../../session.ts'

export type AuditLogEntry = Static<typeof AuditEntry>
export type AuditTarget = NonNullable<AuditLogEntry['target']>

export const entriesPerPage = 200

/** The key begins with the operation, so that an event invalidates the query; then all loaded pages are read again. */
export function useAuditEntries({ from, to }: AuditWindow) {
  const query = useInfiniteQuery({
    queryKey: [...queryKeyOf('auditLogs', { from, to }), 'pages'],
    queryFn: async ({ pageParam, signal }) =>
      (await client().auditLogs({ from, to, pageSize: entriesPerPage, pageToken: pageParam }, { signal })).body,
    initialPageParam: '',
    getNextPageParam: ({ nextPageToken }) => nextPageToken || undefined,
    placeholderData: keepPreviousData,
    enabled: from < to,
  })
  const pages = query.data?.pages
  const entries = useMemo(() => pages?.flatMap(({ logs }) => logs), [pages])
  return { ...query, entries }
}

interface EntryFilter {
  readonly category?: string | undefined
  readonly type?: string | undefined
  readonly q?: string | undefined
}

export function filterEntries(
  entries: readonly AuditLogEntry[],
  { category, type, q = '' }: EntryFilter,
  deviceTexts: ReadonlyMap<string, string> = new Map(),
): readonly AuditLogEntry[] {
  const words = searchWords(q)
  return entries.filter(
    (entry) =>
      (category === undefined || entry.category === category) &&
      (type === undefined || entry.type === type) &&
      (words.length === 0 || includesAll(normalizeText(searchText(entry, deviceTexts)), words)),
  )
}

function searchText(
  { actor, target, type, details, requestId = '', ip = '' }: AuditLogEntry,
  deviceTexts: ReadonlyMap<string, string>,
): string {
  const { affected = [], before, after } = details ?? {}
  return [actor, target, ...affected]
    .map((named) => named?.name ?? '')
    .concat([target, ...affected].map((named) => (named?.type === 'endpoint' && deviceTexts.get(named.id)) || ''))
    .concat(affected.map(({ serial = '' }) => serial))
    .concat([before?.serial, after?.serial].map((serial) => (typeof serial === 'string' ? serial : '')))
    .concat(actionName(type), requestId, ip)
    .join(' ')
}

/** The present name and the serial number of each device, by its id: entries are found by both. */
export function useDeviceTexts(): ReadonlyMap<string, string> {
  const endpoints = useQuery(operationQuery('endpointsBasicList')).data?.body.endpoints
  return useMemo(
    () => new Map(endpoints?.map((device) => [device.id, `${deviceName(device)} ${device.serial}`])),
    [endpoints],
  )
}

export const targetKey = ({ type, id }: Pick<AuditTarget, 'type' | 'id'>): string => `${type} ${id}`

/** The target of an entry about a session or a passkey is its person, who is still there. */
const deletionTypes = /^(?!SESSION_|PASSKEY_).*_(DELETED|REMOVED|REVOKED)$/

/** Collects the targets that the entries say are deleted, so that they are not linked. */
export function deletedTargets(entries: readonly AuditLogEntry[]): ReadonlySet<string> {
  const deleted = new Set<string>()
  for (const { type, target, details } of entries) {
    if (!target || !deletionTypes.test(type)) continue
    deleted.add(targetKey(target))
    // Deleting a room deletes its devices. Deleting a location or a region deletes nothing else.
    if (target.type === 'room') for (const also of details?.affected ?? []) deleted.add(targetKey(also))
  }
  return deleted
}
