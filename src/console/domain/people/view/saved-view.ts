// Saved views of lists, and how one becomes the address of its list and back. [contract 11.views]
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import type { ViewPage } from '../../../../contract/people/views.ts'
import { operationQuery } from '../../../api.ts'

export type SavedView = ResponseOf<Operations['viewsList']>['views'][number]
/** The search parameters of an address. */
export type ListSearch = Readonly<Record<string, string | undefined>>

const noViews: readonly SavedView[] = []

/** The views that the caller has, by name; an empty list until they are loaded. */
export function useViews(): { readonly views: readonly SavedView[]; readonly isLoaded: boolean } {
  const views = useQuery(operationQuery('viewsList')).data?.body.views
  return useMemo(
    () => ({
      views: views?.toSorted((a, b) => a.name.localeCompare(b.name)) ?? noViews,
      isLoaded: views !== undefined,
    }),
    [views],
  )
}

/** The search parameters of the page that is open. */
export const useListSearch = (): ListSearch => useSearch({ strict: false }) as ListSearch

/** These parameters are not a part of the query: the view itself, its columns, and the tab of a page. */
const isOfQuery = (name: string): boolean => !['view', 'columns', 'tab'].includes(name)

/** The filters and the order, in one order of their names. */
export const queryOf = (search: ListSearch): string =>
  new URLSearchParams(
    Object.entries(search)
      .flatMap(([name, value]) => (value === undefined || !isOfQuery(name) ? [] : [[name, value]]))
      .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
  ).toString()

const parseQuery = (query: string): Record<string, string> => Object.fromEntries(new URLSearchParams(query))

/** The search parameters of the list as the view has it. */
export const searchOf = ({ id, query, columns }: Pick<SavedView, 'id' | 'query' | 'columns'>): ListSearch => ({
  ...parseQuery(query),
  ...(columns && { columns: columns.join(',') }),
  view: id,
})

/** The columns in an address. */
export const savedColumnsOf = ({ columns }: ListSearch): string[] | undefined => columns?.split(',').filter(Boolean)

/** Whether the list has other filters, another order or other columns than the view. */
export const isChanged = (view: Pick<SavedView, 'query' | 'columns'>, search: ListSearch): boolean =>
  queryOf(parseQuery(view.query)) !== queryOf(search) || view.columns?.join() !== savedColumnsOf(search)?.join()

export const pageNames: Readonly<Record<ViewPage, string>> = {
  rooms: 'Rooms',
  devices: 'Devices',
  incidents: 'Incidents',
  jobs: 'Jobs',
  audit: 'Audit',
}
