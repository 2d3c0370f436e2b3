// The names of the regions that the session is limited to. [contract 11.access]
import { useQuery } from '@tanstack/react-query'
import { operationQuery } from '../../../api.ts'
import { useSession } from '../../../session.ts'

/** Returns undefined for a session that sees all regions, and while the names are loading. */
export function useOwnRegionNames(): readonly string[] | undefined {
  const { allRegions, regionIds } = useSession()
  const { data } = useQuery({ ...operationQuery('regionsList'), enabled: !allRegions && regionIds.length > 0 })
  if (allRegions) return undefined
  if (regionIds.length === 0) return []
  return data?.body.regions.filter(({ id }) => regionIds.includes(id)).map(({ name }) => name)
}

/** The regions in one line. */
export const regionsLine = (names: readonly string[]): string =>
  names.length === 0 ? 'No regions' : `${names.length === 1 ? 'Region' : 'Regions'}: ${names.join(', ')}`
