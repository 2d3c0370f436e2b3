// Makes the steps for one entry, or for one thing that is deleted, before they are put in order.
import { type DriverId, drivers } from '../contract/fleet/drivers.ts'
import { compareFields, isEnvSecret } from './compare.ts'
import type { Entry } from './entries.ts'
import { forbiddenReason } from './forbidden.ts'
import { kindTable } from './kinds.ts'
import type { OrganisationIndex } from './organisation.ts'
import { changesConfig, type DraftStep, type ShownValue } from './plan.ts'
import type { OrganisationThing, StepOperation, ThingRef, ThingValue, Values } from './things.ts'

export interface EntrySteps {
  readonly entry: Entry
  /** Absent if the entry makes a new one. */
  readonly thing: OrganisationThing | undefined
  readonly drafts: readonly DraftStep[]
  readonly notCompared: readonly string[]
}

export interface StepContext {
  readonly organisation: OrganisationIndex
  readonly setSecrets: boolean
  /** Whether ids of the document are those of this organisation. */
  readonly hasOwnIds: boolean
  /** The path of the entry at a JSON Pointer. */
  readonly pathAt: (pointer: string) => readonly string[]
}

export function stepsOfEntry(
  entry: Entry,
  thing: OrganisationThing | undefined,
  desired: Values,
  context: StepContext,
): EntrySteps {
  const isNewAddress = thing !== undefined && losesSecrets(thing, desired)
  const { changes, after, notCompared } = compareFields({
    kind: entry.kind,
    before: thing?.values,
    desired: {
      ...desired,
      ...(isNewAddress && { fingerprint: desired.fingerprint ?? null }),
      ...keptName(thing, desired),
    },
    setSecrets: context.setSecrets || isNewAddress,
    show: (value) => shownValue(value, context),
  })
  if (thing && changes.length === 0) return { entry, thing, drafts: [], notCompared }
  const { create, update } = kindTable[entry.kind]
  const draft: DraftStep = {
    operation: (thing ? update : create) as StepOperation,
    kind: entry.kind,
    path: entry.path,
    ...(thing && { id: thing.id }),
    changes,
    before: thing?.values ?? {},
    after,
    pointer: entry.pointer,
  }
  const drafts = entry.kind === 'room' && thing ? splitProfile(draft, thing, context) : [withRollout(draft, context)]
  return { entry, thing, drafts: drafts.map((step) => withPermission(step, entry, context)), notCompared }
}

export function deletionOf(thing: OrganisationThing, { organisation }: StepContext, pointer: string): DraftStep {
  const endpointCount = endpointCountOf(thing, organisation)
  const draft: DraftStep = {
    operation: kindTable[thing.kind].delete as StepOperation,
    kind: thing.kind,
    path: organisation.pathOf(thing),
    id: thing.id,
    changes: [],
    before: thing.values,
    after: {},
    pointer,
    ...(endpointCount && { endpointCount, needs: 'unenrol' as const }),
  }
  const forbidden = forbiddenReason(draft, organisation)
  return { ...draft, ...(forbidden && { forbidden }) }
}

/** How many endpoints a deletion unenrols. */
function endpointCountOf({ kind, id, values }: OrganisationThing, { snapshot }: OrganisationIndex): number | undefined {
  if (kind === 'room') return snapshot.endpointsByRoom.get(id as number)
  return kind === 'gatewayDevice' && values.endpoint !== undefined ? 1 : undefined
}

/** roomsUpdate does not change the profile of a room, because that also changes all of its endpoints. */
function splitProfile(draft: DraftStep, thing: OrganisationThing, { organisation }: StepContext): DraftStep[] {
  const ofProfile = draft.changes.filter(({ field }) => field === 'profile')
  const others = draft.changes.filter(({ field }) => field !== 'profile')
  const endpointCount = organisation.snapshot.endpointsByRoom.get(thing.id as number)
  const { profile: oldProfile, ...before } = draft.before
  const { profile = null, ...after } = draft.after
  return [
    ...(others.length > 0 ? [{ ...draft, changes: others, before, after }] : []),
    ...(ofProfile.length > 0
      ? [
          {
            ...draft,
            operation: 'roomsAssignProfile' as const,
            changes: ofProfile,
            before: oldProfile === undefined ? {} : { profile: oldProfile },
            after: { profile },
            ...(endpointCount && { endpointCount, needs: 'rollout' as const }),
          },
        ]
      : []),
  ]
}

function withRollout(draft: DraftStep, { organisation }: StepContext): DraftStep {
  if (!changesConfig(draft)) return draft
  const endpointCount = organisation.snapshot.profileUses.get(draft.id as number)?.endpointCount
  return endpointCount ? { ...draft, endpointCount, needs: 'rollout' } : draft
}

function withPermission(draft: DraftStep, entry: Entry, { organisation, hasOwnIds }: StepContext): DraftStep {
  const { noun } = kindTable[entry.kind]
  // Making a second one would be wrong if the first only moved to a region that the caller does not see.
  const mayExist =
    draft.id === undefined && hasOwnIds && entry.id !== undefined && !organisation.snapshot.seesAllRegions
  const forbidden = mayExist
    ? `This key sees no ${noun} ${entry.id}, which may be in another region. Remove the id if it was deleted.`
    : forbiddenReason(draft, organisation)
  return { ...draft, ...(forbidden && { forbidden }) }
}

/** A stored secret does not follow a device to another address. [contract 13.secrets] */
export function losesSecrets({ kind, values }: OrganisationThing, desired: Values): boolean {
  if (kind !== 'gatewayDevice') return false
  if (['driver', 'host', 'port'].some((name) => desired[name] !== undefined && desired[name] !== values[name]))
    return true
  const bound = drivers[values.driver as DriverId].fields.filter(
    ({ isOption, bindsSecrets }) => isOption && bindsSecrets,
  )
  const [before, after] = [values.options, desired.options].map((options) => (options ?? {}) as Values)
  return bound.some(({ name, default: byDefault }) => {
    const wanted = after?.[name]
    return wanted !== undefined && (wanted ?? byDefault) !== (before?.[name] ?? byDefault)
  })
}

/** Clearing the name of an endpoint changes nothing if the device reports that name itself. */
const keptName = (thing: OrganisationThing | undefined, desired: Values): Values =>
  thing?.kind === 'endpoint' && desired.name === null && thing.values.reportedName !== undefined
    ? { name: thing.values.name === thing.values.reportedName ? (thing.values.name as string) : null }
    : {}

/** Shows names instead of ids. */
export function shownValue(value: ThingValue, context: StepContext): ShownValue {
  if (Array.isArray(value)) return value.map((item) => shownValue(item, context))
  if (typeof value !== 'object' || value === null || isEnvSecret(value) || !('kind' in value))
    return value as ShownValue
  const target = value as ThingRef
  if ('pointer' in target) return context.pathAt(target.pointer).join(' / ')
  const thing = context.organisation.byId(target.kind, target.id)
  return thing ? context.organisation.pathOf(thing).join(' / ') : String(target.id)
}
