// Puts steps in order: what a step needs comes before it, and deletions come last, from the inside out.
import { kindTable } from './kinds.ts'
import type { DraftStep, FindPlace, OrganisationStep } from './plan.ts'
import type { Kind, StepOperation, ThingRef, Values } from './things.ts'

/** Operations of one rank do not depend on each other. */
const ranks: readonly (readonly StepOperation[])[] = [
  ['regionsCreate', 'regionsUpdate', 'profilesCreate', 'profilesUpdate', 'incidentRulesUpdate', 'endpointsUpdate'],
  ['locationsCreate', 'locationsUpdate'],
  ['roomsCreate', 'roomsUpdate'],
  ['roomsAssignProfile', 'gatewayDevicesCreate', 'gatewayDevicesUpdate'],
  ['usersCreate', 'usersUpdate', 'channelsCreate', 'channelsUpdate', 'silencesCreate'],
  ['silencesDelete', 'channelsDelete', 'gatewayDevicesDelete'],
  ['roomsDelete'],
  ['locationsDelete'],
  ['regionsDelete', 'profilesDelete'],
]
const rankOf = new Map(ranks.flatMap((operations, rank) => operations.map((operation) => [operation, rank] as const)))

export function orderSteps(
  drafts: readonly DraftStep[],
  findPlace: FindPlace,
): { draft: DraftStep; step: OrganisationStep }[] {
  const sorted = drafts
    .map((draft) => ({ draft, rank: rankOf.get(draft.operation) as number }))
    .sort((a, b) => a.rank - b.rank)
  const numberOf = new Map(sorted.map(({ draft }, i) => [draft, i + 1]))
  const dependencies = findDependencies(drafts)
  return sorted.map(({ draft, rank }) => {
    const place = findPlace(draft.pointer)
    const dependsOn = [...(dependencies.get(draft) ?? [])].map((needed) => numberOf.get(needed) as number)
    const number = numberOf.get(draft) as number
    return {
      draft,
      step: { number, rank, ...draft, dependsOn: dependsOn.sort((a, b) => a - b), ...(place && { place }) },
    }
  })
}

function findDependencies(drafts: readonly DraftStep[]): Map<DraftStep, Set<DraftStep>> {
  const creationAt = new Map<string, DraftStep>()
  const updateOf = new Map<string, DraftStep>()
  /** Steps about things that are in a site, or have a profile, before the plan. */
  const usersOf = new Map<string, DraftStep[]>()
  for (const draft of drafts) {
    if (draft.id === undefined) creationAt.set(draft.pointer, draft)
    else if (draft.operation.endsWith('Update')) updateOf.set(`${draft.kind} ${draft.id}`, draft)
    for (const target of targetsIn(draft.kind, draft.before)) {
      if (!('id' in target)) continue
      const key = `${target.kind} ${target.id}`
      const users = usersOf.get(key)
      if (users) users.push(draft)
      else usersOf.set(key, [draft])
    }
  }
  const dependenciesOf = (draft: DraftStep): DraftStep[] => {
    if (draft.operation.endsWith('Delete')) {
      // A silence that is replaced has the pointer of its entry.
      const replacement = creationAt.get(draft.pointer)
      return [...(usersOf.get(`${draft.kind} ${draft.id}`) ?? []), ...(replacement ? [replacement] : [])]
    }
    const created = targetsIn(draft.kind, draft.after).flatMap(
      (target) => ('pointer' in target ? creationAt.get(target.pointer) : undefined) ?? [],
    )
    const update = draft.operation === 'roomsAssignProfile' ? updateOf.get(`room ${draft.id}`) : undefined
    return update ? [...created, update] : created
  }
  return new Map(drafts.map((draft) => [draft, new Set(dependenciesOf(draft))]))
}

/** The things that the fields of a thing name. */
export function targetsIn(kind: Kind, values: Values): ThingRef[] {
  return Object.entries(kindTable[kind].fields)
    .filter(([, fieldKind]) => fieldKind === 'reference' || fieldKind === 'references')
    .flatMap(([name]) => [values[name] ?? []].flat())
    .filter((value): value is ThingRef => typeof value === 'object')
}
