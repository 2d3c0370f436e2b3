// The names of profiles by their id, for lists that show or filter by the profile.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { compareText, naturalSortKey } from '../../../../contract/search-text.ts'
import { operationQuery } from '../../../api.ts'
import type { FilterChoice } from '../../../parts/table/filter-choices.ts'

export type ProfileNames = ReadonlyMap<number, string>

/** Empty until the profiles have been read: no page waits for them. */
export function useProfileNames(): ProfileNames {
  const profiles = useQuery(operationQuery('profilesList')).data?.body.profiles
  return useMemo(() => new Map((profiles ?? []).map(({ id, name }) => [id, name])), [profiles])
}

/** Filter value in place of an id: without a profile. */
export const noProfile = 'none'

export const profileChoices = (names: ProfileNames): FilterChoice[] => [
  ...[...names]
    .map(([id, name]) => ({ value: String(id), label: name, key: naturalSortKey(name) }))
    .sort((a, b) => compareText(a.key, b.key))
    .map(({ value, label }) => ({ value, label })),
  { value: noProfile, label: 'No profile' },
]
