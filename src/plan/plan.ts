// A plan: the steps that make an organisation what a document says, in the order in which they can be carried out.
import type { Id, Kind, StepOperation, Values } from './things.ts'

/** A place in the file, counted from 1. */
export interface FilePlace {
  readonly line: number
  readonly column?: number
}

/** Finds the place of a value of the document by its JSON Pointer, such as `/regions/0/locations/2`. */
export type FindPlace = (pointer: string) => FilePlace | undefined

/** A value for people: names instead of ids, and no secret. */
export type ShownValue =
  | null
  | boolean
  | number
  | string
  | readonly ShownValue[]
  | { readonly [name: string]: ShownValue }

export interface Change {
  /** Named as in the document, with a dot before the key of a map: `config.nightMode`. */
  readonly field: string
  /** Absent if the field was not set, or cannot be read. */
  readonly from?: ShownValue
  /** Absent if the field is cleared. */
  readonly to?: ShownValue
}

/** A step with one of these needs an option of `apply`. */
export type Allowance = 'rollout' | 'unenrol'

export interface OrganisationStep {
  /** Counted from 1. A step comes after all steps that it depends on. */
  readonly number: number
  /** Steps with one rank can be carried out at the same time, after those with a lower rank. */
  readonly rank: number
  readonly operation: StepOperation
  readonly kind: Kind
  /** The names on the path to the thing, its own at the end. */
  readonly path: readonly string[]
  /** The thing that is changed or deleted; absent if the step makes it. */
  readonly id?: Id
  readonly changes: readonly Change[]
  /** Fields before the step, as the plan saw them, and after it. */
  readonly before: Values
  readonly after: Values
  /** The entry of the thing. A deletion has the list that leaves it out, or the entry of the silence that replaces it. */
  readonly pointer: string
  readonly place?: FilePlace
  /** Numbers of the steps without which this one must not be carried out. */
  readonly dependsOn: readonly number[]
  /** How many endpoints the step changes, or unenrols, at the same time. */
  readonly endpointCount?: number
  readonly needs?: Allowance
  /** Why the caller may not carry it out. */
  readonly forbidden?: string
}

/** A step before the steps are put in order. */
export type DraftStep = Omit<OrganisationStep, 'number' | 'rank' | 'dependsOn' | 'place'>

/** Another config of a profile changes all endpoints that have it. Another name does not. */
export const changesConfig = ({ operation, changes }: Pick<OrganisationStep, 'operation' | 'changes'>): boolean =>
  operation === 'profilesUpdate' && changes.some(({ field }) => field.startsWith('config.'))

/** A mistake in the document. A plan with problems has no steps. */
export interface Problem {
  readonly message: string
  readonly pointer: string
  readonly place?: FilePlace
}

/** Says whether an entry of the document makes something, changes it, or leaves it as it is. */
export interface EntryFate {
  readonly pointer: string
  readonly kind: Kind
  /** Absent for a thing that does not exist yet. */
  readonly id?: Id
  readonly fate: 'created' | 'changed' | 'unchanged'
  /** Numbers of the steps for the entry. */
  readonly steps: readonly number[]
  /** Secrets that are set and that the document names: whether they are equal is not known. */
  readonly notCompared: readonly string[]
}

export interface PlanOptions {
  /** Delete what the sections of the document do not name. */
  readonly prune?: boolean
  /** Send secrets of things that exist, too. */
  readonly setSecrets?: boolean
  readonly findPlace?: FindPlace
  /** Silences that ended before are left alone. */
  readonly now?: number
}

export interface OrganisationPlan {
  readonly steps: readonly OrganisationStep[]
  readonly problems: readonly Problem[]
  /** Sentences about what a person may have meant otherwise. */
  readonly hints: readonly Problem[]
  /** Sections of things that the caller does not see completely, so no step is planned for them. */
  readonly unreadable: readonly Problem[]
  readonly entries: readonly EntryFate[]
}
