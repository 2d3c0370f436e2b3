// Regions and locations cannot be asked for one by one, so they have no version: before a save the list is read anew and compared with what was seen.
import { useMutation } from '@tanstack/react-query'
import { ask, queryClient } from '../../api.ts'
import { ChangedMeanwhile } from '../../parts/dialog/concurrent-change.ts'
import { capitalised } from '../../parts/text/words.ts'

/** Saves only what is still as it was seen. */
export const useSave = (check: () => Promise<void>, write: () => Promise<unknown>) =>
  useMutation({
    mutationFn: async () => {
      await check()
      await write()
    },
  })

export async function checkRegion(id: number, seenName: string): Promise<void> {
  const { body } = await queryClient.fetchQuery({ ...ask('regionsList'), staleTime: 0 })
  const now = body.regions.find((region) => region.id === id)
  if (!now) throw new Error(gone)
  if (now.name !== seenName) throw new ChangedMeanwhile(`Renamed to ${now.name} by someone else.`)
}

interface SeenLocation {
  readonly name: string
  /** 0: in none. */
  readonly regionId: number
}

export async function checkLocation(id: number, seen: SeenLocation): Promise<void> {
  const { body } = await queryClient.fetchQuery({ ...ask('locationsList'), staleTime: 0 })
  const now = body.locations.find((location) => location.id === id)
  if (!now) throw new Error(gone)
  const changes = [
    ...(now.name === seen.name ? [] : [`renamed to ${now.name}`]),
    ...((now.region?.id ?? 0) === seen.regionId
      ? []
      : [now.region ? `moved to ${now.region.name}` : 'moved out of its region']),
  ]
  if (changes.length > 0) throw new ChangedMeanwhile(capitalised(`${changes.join(' and ')} by someone else.`))
}

const gone = 'This site was deleted by someone else.'
