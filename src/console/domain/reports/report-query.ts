// Reads all rows of a report by name, page by page, and saves its CSV. [contract 16.query]
import { queryOptions } from '@tanstack/react-query'
import type { ApiResponse, CallInput, CallOptions } from '../../../client/client.ts'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { maxReportPage } from '../../../contract/reports/report-query.ts'
import { client } from '../../session.ts'

export type ReportId = 'reportsUse' | 'reportsAvailability' | 'reportsAir' | 'reportsIncidents'
export type ReportAnswer<K extends ReportId> = ResponseOf<Operations[K]>
type Call = (input: unknown, options: CallOptions & { readonly accept?: 'text/csv' }) => Promise<ApiResponse<unknown>>

const callOf = (id: ReportId) => client()[id] as unknown as Call

/** Sorting by a figure has a limit of rooms and days, and reading by name has none, so the console sorts. */
export const allRowsQuery = <K extends ReportId>(id: K, input: CallInput<K>) =>
  queryOptions({
    queryKey: [id, input],
    queryFn: async ({ signal }): Promise<ReportAnswer<K>> => {
      const rows: unknown[] = []
      for (let pageToken = ''; ; ) {
        const query = { ...input, pageSize: maxReportPage, ...(pageToken && { pageToken }) }
        const body = (await callOf(id)(query, { signal })).body as ReportAnswer<K>
        rows.push(...body.rows)
        pageToken = body.nextPageToken
        if (!pageToken) return { ...body, rows } as ReportAnswer<K>
      }
    },
  })

/** The CSV has all rows, in the order of `sort`. */
export const readReportCsv = async <K extends ReportId>(id: K, input: CallInput<K>): Promise<Blob> =>
  (await callOf(id)({ ...input, bom: true }, { accept: 'text/csv' })).body as Blob
