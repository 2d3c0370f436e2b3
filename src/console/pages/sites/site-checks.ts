// Checks before a save that a site is unchanged, because no read gives the version (ETag) of one region or location.
import { useMutation } from '@tanstack/react-query'
import { operationQuery, queryClient } from '../../api.ts'
import { weeklyText } from '../../domain/silence/silence.ts'
import { ConcurrentChangeError } from '../../parts/dialog/concurrent-change.ts'
import { capitalised } from '../../parts/text/words.ts'

/** Runs the check first; the check throws if the site has changed. */
export const useCheckedSave = (check: () => Promise<void>, write: () => Promise<unknown>) =>
  useMutation({
    mutationFn: async () => {
      await check()
      await write()
    },
  })

export async function checkRegion(id: number, initialName: string): Promise<void> {
  const { body } = await queryClient.fetchQuery({ ...operationQuery('regionsList'), staleTime: 0 })
  const current = body.regions.find((region) => region.id === id)
  if (!current) throw new Error(deletedText)
  if (current.name !== initialName) throw new ConcurrentChangeError(`Renamed to ${current.name} by someone else.`)
}

interface InitialLocation {
  readonly name: string
  /** 0 means no region. */
  readonly regionId: number
  /** Empty means that of the organisation. */
  readonly timezone: string
  /** Empty means always. */
  readonly changeWindow: string
}

export async function checkLocation(id: number, initial: InitialLocation): Promise<void> {
  const { body } = await queryClient.fetchQuery({ ...operationQuery('locationsList'), staleTime: 0 })
  const current = body.locations.find((location) => location.id === id)
  if (!current) throw new Error(deletedText)
  const changes = [
    ...(current.name === initial.name ? [] : [`renamed to ${current.name}`]),
    ...((current.region?.id ?? 0) === initial.regionId
      ? []
      : [current.region ? `moved to ${current.region.name}` : 'moved out of its region']),
    ...((current.timezone ?? '') === initial.timezone ? [] : ['moved to another time zone']),
    ...((current.changeWindow ? weeklyText(current.changeWindow) : '') === initial.changeWindow
      ? []
      : ['given another change window']),
  ]
  if (changes.length > 0) throw new ConcurrentChangeError(capitalised(`${changes.join(' and ')} by someone else.`))
}

const deletedText = 'This site was deleted by someone else.'
