// Builds the queries of lists that can be filtered by region and location, one for each combination. [contract 4.endpointsBasicList]
import type { OrgReader } from '../handles.ts'

interface SiteFilter {
  readonly region: number
  readonly location: number
}

/** Returns a function that runs the query for the filters that are given. `make` builds the query for one combination. */
export function bySite<P extends SiteFilter, R>(
  make: (byRegion: boolean, byLocation: boolean) => (on: OrgReader, values: P) => Promise<R>,
) {
  const [all, byRegion, byLocation, byBoth] = [
    make(false, false),
    make(true, false),
    make(false, true),
    make(true, true),
  ] as const
  return (on: OrgReader, values: Omit<P, keyof SiteFilter>, region?: number, location?: number): Promise<R> => {
    const list =
      region === undefined ? (location === undefined ? all : byLocation) : location === undefined ? byRegion : byBoth
    return list(on, { ...values, region: region ?? 0, location: location ?? 0 } as P)
  }
}
