// Chooses the person who is to work on incidents, among those who can. [contract 10.states]
import { Select } from '@mantine/core'
import { permissionsOfRole } from '../../../../contract/people/permissions.ts'
import { useSession } from '../../../session.ts'
import { type Person, personName } from '../../people/person/person.ts'
import type { ListedIncident } from '../incident.ts'

/** Whether a person may operate and sees everything that is affected. The server has the last word: an incident can affect what is in no region. */
export function canWorkOn(
  { role, state, allRegions, regionIds }: Pick<Person, 'role' | 'state' | 'allRegions' | 'regionIds'>,
  incidents: readonly Pick<ListedIncident, 'regionIds'>[],
): boolean {
  const seesAll = role === 'owner' || allRegions
  if (state === 'DISABLED' || !permissionsOfRole(role, seesAll).operate) return false
  const sees = new Set(regionIds)
  return (
    seesAll ||
    incidents.every((incident) => incident.regionIds.length > 0 && incident.regionIds.every((id) => sees.has(id)))
  )
}

interface AssigneeSelectProps {
  readonly people: readonly Person[]
  readonly userId: string | null
  readonly onChange: (userId: string | null) => void
}

export function AssigneeSelect({ people, userId, onChange }: AssigneeSelectProps) {
  const ownId = useSession().user?.id
  return (
    <Select
      label="Assign to"
      placeholder="No one"
      description={
        people.length === 0 ? 'You can invite operators under Settings.' : 'People who can work on incidents here.'
      }
      data={people.map((user) => ({
        value: user.id,
        label: user.id === ownId ? `${personName(user)} (you)` : personName(user),
      }))}
      value={userId}
      onChange={onChange}
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Assign to no one' }}
      nothingFoundMessage="No matches"
    />
  )
}
