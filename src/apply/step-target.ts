// Tells whether a thing already is what a step makes of it: an interrupted run, or another one, has carried the step out.
import { ownProperty } from '../contract/own-property.ts'
import { areSameValues, isEnvSecret } from '../plan/compare.ts'
import { kindTable } from '../plan/kinds.ts'
import type { OrganisationStep } from '../plan/plan.ts'
import type { Id, Kind, ThingValue, Values } from '../plan/things.ts'

/**
 * The service does not show secrets. A step that sets one of a thing that exists is therefore not done; what a step makes is compared
 * without them. `created` has the ids of what the plan made, by pointer.
 */
export function isTarget(step: OrganisationStep, thing: Values, created: ReadonlyMap<string, Id>): boolean {
  const isNotCompared = (value: ThingValue) => step.id === undefined && isEnvSecret(value)
  return Object.entries(kindTable[step.kind].fields).every(([field, fieldKind]) => {
    const wanted = step.after[field]
    const value = thing[field] ?? null
    if (wanted === undefined || isNotCompared(wanted)) return true
    if (fieldKind === 'map') return isTargetMap(wanted, value, isNotCompared)
    return areSameValues(withIds(wanted, created), value, fieldKind)
  })
}

/** A key whose target is null is absent afterwards. */
function isTargetMap(wanted: ThingValue, value: ThingValue, isNotCompared: (wanted: ThingValue) => boolean): boolean {
  const [wantedKeys, keys] = [(wanted ?? {}) as Values, (value ?? {}) as Values]
  return [...new Set([...Object.keys(wantedKeys), ...Object.keys(keys)])].every((key) => {
    const target = ownProperty(wantedKeys, key) ?? null
    return isNotCompared(target) || areSameValues(target, ownProperty(keys, key) ?? null, 'plain')
  })
}

/** References to what the plan makes get the ids that it got. */
function withIds(value: ThingValue, created: ReadonlyMap<string, Id>): ThingValue {
  if (Array.isArray(value)) return value.map((item) => withIds(item, created))
  const { kind, pointer } = (value ?? {}) as { kind?: Kind; pointer?: string }
  return kind !== undefined && pointer !== undefined ? { kind, id: created.get(pointer) as Id } : value
}
