// Regions and locations cannot be asked for one by one, so they have no version: before a save the list is read anew and compared with what was seen.
import { useMutation } from '@tanstack/react-query'
import { operationQuery, queryClient } from '../../api.ts'
import { ConcurrentChangeError } from '../../parts/dialog/concurrent-change.ts'

/** Saves only what is still as it was seen. */
export const useSave = (check: () => Promise<void>, write: () => Promise<unknown>) =>
  useMutation({
    mutationFn: async () => {
      await check()
      await write()
    },
  })

export async function checkRegion(id: number, seenName: string): Promise<void> {
  const { body } = await queryClient.fetchQuery({ ...operationQuery('regionsList'), staleTime: 0 })
  const now = body.regions.find((region) => region.id === id)
  if (!now) throw new Error(gone)
  if (now.name !== seenName)
    throw new ConcurrentChangeError(`Somebody has changed it meanwhile: it is called ${now.name} now.`)
}

interface SeenLocation {
  readonly name: string
  /** 0: in none. */
  readonly regionId: number
}

export async function checkLocation(id: number, seen: SeenLocation): Promise<void> {
  const { body } = await queryClient.fetchQuery({ ...operationQuery('locationsList'), staleTime: 0 })
  const now = body.locations.find((location) => location.id === id)
  if (!now) throw new Error(gone)
  const changes = [
    ...(now.name === seen.name ? [] : [`it is called ${now.name}`]),
    ...((now.region?.id ?? 0) === seen.regionId
      ? []
      : [now.region ? `it is in ${now.region.name}` : 'it is in no region']),
  ]
  if (changes.length > 0)
    throw new ConcurrentChangeError(`Somebody has changed it meanwhile: ${changes.join(' and ')} now.`)
}

const gone = 'Somebody else has deleted it meanwhile.'
