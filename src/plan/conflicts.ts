// Finds what a plan with deletions cannot do: things that something else still names afterwards.

import type { Entry } from './entries.ts'
import { targetsIn } from './order.ts'
import type { OrganisationIndex } from './organisation.ts'
import type { DraftStep } from './plan.ts'
import type { Id, Kind, OrganisationThing, Values } from './things.ts'

export interface Conflict {
  readonly pointer: string
  readonly message: string
}

interface ConflictInput {
  readonly organisation: OrganisationIndex
  readonly pruned: readonly OrganisationThing[]
  readonly desiredOf: ReadonlyMap<Entry, Values>
  /** All steps of the plan, with the deletions. */
  readonly steps: readonly DraftStep[]
}

export function findConflicts({ organisation, pruned, desiredOf, steps }: ConflictInput): Conflict[] {
  if (pruned.length === 0) return []
  const prunedOf = new Map(pruned.map((thing) => [`${thing.kind} ${thing.id}`, thing]))
  const stillNamed = [...desiredOf].flatMap(([entry, desired]) =>
    targetsIn(entry.kind, desired).flatMap((target) => {
      const thing = 'id' in target ? prunedOf.get(`${target.kind} ${target.id}`) : undefined
      return thing ? [conflict(entry.pointer, thing, 'this entry names it', organisation)] : []
    }),
  )
  const inUse = pruned
    .filter(({ kind }) => kind === 'profile')
    .flatMap((profile) => {
      const user = userOf(profile, steps, organisation)
      return user === undefined ? [] : [conflict('', profile, user, organisation)]
    })
  return [...stillNamed, ...inUse]
}

const conflict = (
  pointer: string,
  thing: OrganisationThing,
  why: string,
  organisation: OrganisationIndex,
): Conflict => ({
  pointer,
  message: `The prune would delete ${organisation.describe(thing)}, but ${why}. Add it to the document, or remove what names it.`,
})

/** Returns who has a profile after the plan. Assigning a profile to a room also assigns it to the room's endpoints. */
function userOf(
  profile: OrganisationThing,
  steps: readonly DraftStep[],
  organisation: OrganisationIndex,
): string | undefined {
  const changed = new Set(
    steps
      .filter(({ operation }) => operation === 'roomsAssignProfile' || operation === 'roomsDelete')
      .map(({ id }) => id as Id),
  )
  const isUnchanged = (kind: Kind, id: Id) => kind === 'room' && !changed.has(id)
  const room = organisation.snapshot.things.find(
    ({ kind, id, values }) => isUnchanged(kind, id) && organisation.targetOf(values.profile) === profile,
  )
  if (room) return `${organisation.describe(room)} has it`
  const use = organisation.snapshot.profileUses.get(profile.id as number)
  if (!use) return undefined
  const [roomId, count] = [...use.endpointsByRoom].find(([id]) => isUnchanged('room', id)) ?? []
  return roomId === undefined ? undefined : `${count} endpoints in room ${roomId} have it`
}
