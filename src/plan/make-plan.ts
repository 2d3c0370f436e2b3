// Makes a plan: compares a document with an organisation, and orders the steps that make the organisation what the document says.
import { maxCustomFields } from '../contract/fleet/custom-fields.ts'
import { type DriverId, drivers } from '../contract/fleet/drivers.ts'
import { emailKey } from '../contract/text.ts'
import { parseTime } from '../contract/time.ts'
import { findConflicts } from './conflicts.ts'
import { desiredValues } from './desired.ts'
import type { OrganisationDocument } from './document.ts'
import { type Entry, listEntries } from './entries.ts'
import { makeHints } from './hints.ts'
import { escaped } from './json-pointer.ts'
import { kindTable } from './kinds.ts'
import { matchEntries, type Report } from './match.ts'
import { orderSteps } from './order.ts'
import { OrganisationIndex } from './organisation.ts'
import type {
  DraftStep,
  EntryFate,
  FilePlace,
  OrganisationPlan,
  OrganisationStep,
  PlanOptions,
  Problem,
} from './plan.ts'
import { findPruned } from './prune.ts'
import { makeReferences } from './references.ts'
import { matchSilences } from './silences.ts'
import { deletionOf, type EntrySteps, type StepContext, stepsOfEntry } from './steps.ts'
import type { OrganisationThing, Snapshot, Values } from './things.ts'

const noPlace = (): undefined => undefined

export function makePlan(
  document: OrganisationDocument,
  snapshot: Snapshot,
  options: PlanOptions = {},
): OrganisationPlan {
  const { prune = false, setSecrets = false, findPlace = noPlace, now = Number.NEGATIVE_INFINITY } = options
  const problems: Problem[] = []
  const placed = (pointer: string, message: string): Problem => {
    const place = findPlace(pointer)
    return { message, pointer, ...(place && { place }) }
  }
  const report: Report = ({ pointer }, message, ...keys) =>
    problems.push(placed([pointer, ...keys.map(escaped)].join('/'), message))
  const lineOf = ({ pointer }: Entry) => lineText(findPlace(pointer), pointer)

  const organisation = new OrganisationIndex(snapshot)
  const hasOwnIds = document.organisation.trim() === snapshot.organisation
  const { entries, ownerEntries, unreadable } = splitEntries(listEntries(document), snapshot)
  const matches = matchEntries(entries, { organisation, hasOwnIds, lineOf, report })
  const references = makeReferences(entries, { organisation, matches, hasOwnIds, lineOf })
  const desiredOf = new Map(entries.map((entry) => [entry, desiredValues(entry, { organisation, references, report })]))
  const silences = matchSilences(desiredOf, snapshot.things, hasOwnIds)

  const pathOf = new Map(entries.map(({ pointer, path }) => [pointer, path]))
  const context: StepContext = { organisation, setSecrets, hasOwnIds, pathAt: (pointer) => pathOf.get(pointer) ?? [] }
  const planned = entries.map((entry): EntrySteps => {
    const desired = desiredOf.get(entry) ?? {}
    const silence = silences.get(entry)
    const thing = silence ? silence.same : matches.thingOf.get(entry)
    const problem = thing ? undefined : creationProblem(entry)
    if (problem !== undefined) report(entry, problem, ...(entry.kind === 'endpoint' ? ['serial'] : []))
    const steps =
      silence?.same || problem !== undefined || hasEnded(entry, now)
        ? { entry, thing, drafts: [], notCompared: [] }
        : stepsOfEntry(entry, thing, desired, context)
    return silence?.replaced
      ? { ...steps, drafts: [...steps.drafts, deletionOf(silence.replaced, context, entry.pointer)] }
      : steps
  })
  for (const { entry, drafts } of planned) {
    for (const { key, message } of drafts.flatMap((draft) => draftProblem(draft) ?? [])) report(entry, message, key)
  }
  const listOf = prune
    ? findPruned({ document, entries, organisation, matches, silences })
    : new Map<OrganisationThing, string>()
  const pruned = [...listOf.keys()]
  const deletions = [...listOf].map(([thing, list]) => deletionOf(thing, context, list))
  const drafts = [...planned.flatMap((steps) => steps.drafts), ...deletions]
  for (const { pointer, message } of findConflicts({ organisation, pruned, desiredOf, steps: drafts }))
    problems.push(placed(pointer, message))

  const hints = [
    ...(hasOwnIds ? [] : [placed('/organisation', otherOrganisationHint(document, snapshot))]),
    ...ownerEntries.map((entry) => placed(entry.pointer, ownerHint(entry))),
    ...entries.flatMap((entry) => (hasEnded(entry, now) ? [placed(entry.pointer, endedHint(entry))] : [])),
    ...makeHints(planned, { organisation, matches, hasOwnIds, pruned: new Set(pruned) }).map((hint) =>
      placed(hint.pointer, hint.message),
    ),
  ]
  const unreadableSections = unreadable.map(({ pointer, message }) => placed(pointer, message))
  if (problems.length > 0) return { steps: [], problems, hints, unreadable: unreadableSections, entries: [] }
  const ordered = orderSteps(drafts, findPlace)
  const numberOf = new Map(ordered.map(({ draft, step }) => [draft, step.number]))
  return {
    steps: ordered.map(({ step }): OrganisationStep => step),
    problems,
    hints,
    unreadable: unreadableSections,
    entries: planned.map((steps) => fateOf(steps, numberOf)),
  }
}

/** Leaves out entries about owners, and sections of things that the caller does not see completely. */
function splitEntries(all: readonly Entry[], { hiddenKinds, ownerEmails }: Snapshot) {
  const isOwner = ({ kind, path }: Entry) => kind === 'user' && ownerEmails.includes(emailKey(path[0] as string))
  const hidden = all.filter(({ kind }) => hiddenKinds.includes(kind))
  const sections = new Map(hidden.map(({ kind, pointer }) => [kind, pointer.split('/').slice(0, 2).join('/')]))
  return {
    entries: all.filter((entry) => !hiddenKinds.includes(entry.kind) && !isOwner(entry)),
    ownerEntries: all.filter(isOwner),
    unreadable: [...sections].map(([kind, pointer]) => ({
      pointer,
      message: `The key does not see ${kindTable[kind].noun}s completely, so this section is left out.`,
    })),
  }
}

const otherOrganisationHint = (document: OrganisationDocument, snapshot: Snapshot) =>
  `The document is of the organisation ${document.organisation.trim()}, and this is ${snapshot.organisation}, so its ids are ignored.`

const ownerHint = ({ path }: Entry) =>
  `${path[0]} is an owner. A document does not change owners, so the entry is left out.`

/** The service has no silences that ended, and makes none. */
const hasEnded = ({ kind, fields }: Entry, now: number): boolean =>
  kind === 'silence' && typeof fields.to === 'string' && (parseTime(fields.to) ?? now + 1) <= now

const endedHint = ({ path, fields }: Entry) => `The silence ${path[0]} ended at ${fields.to}. Remove the entry.`

/** Why an entry cannot make something new; undefined if it can. */
function creationProblem({ kind, path, fields }: Entry): string | undefined {
  if (kind === 'endpoint') return `No endpoint has the serial number ${path[0]}. Enrol it first, or remove the entry.`
  if (kind === 'incidentRule') return `No incident rule is called ${path[0]}.`
  if (kind === 'gatewayDevice') {
    const missing = ['room', ...requiredFields(fields.driver as DriverId)].filter((name) => !fields[name])
    if (missing.length > 0) return `The gateway device ${path.join(' / ')} is new and needs ${missing.join(' and ')}.`
  }
  if (kind === 'user' && !fields.role) return `${path[0]} is new and needs a role: admin, operator or viewer.`
  return undefined
}

/** Why the service would refuse a step, if that depends on what exists. */
function draftProblem({ kind, id, changes, after }: DraftStep): { key: string; message: string } | undefined {
  if (kind === 'channel' && id !== undefined && changes.some(({ field }) => field === 'kind')) {
    const message = 'The kind of a channel cannot be changed. Remove the id, and give the new channel another name.'
    return { key: 'kind', message }
  }
  const fieldCount = Object.values((after.fields ?? {}) as Values).filter((text) => text !== null).length
  if (fieldCount <= maxCustomFields) return undefined
  const message = `The ${kindTable[kind].noun} would have ${fieldCount} custom fields, and can have ${maxCustomFields}. Clear some with null.`
  return { key: 'fields', message }
}

const requiredFields = (driver: DriverId): string[] =>
  drivers[driver].fields.flatMap(({ name, required, isOption }) => (required && !isOption ? [name] : []))

function fateOf(steps: EntrySteps, numberOf: ReadonlyMap<DraftStep, number>): EntryFate {
  const { entry, thing, drafts, notCompared } = steps
  const changed = drafts.length > 0 ? 'changed' : 'unchanged'
  return {
    pointer: entry.pointer,
    kind: entry.kind,
    ...(thing && { id: thing.id }),
    fate: thing || drafts.length === 0 ? changed : 'created',
    steps: drafts.map((draft) => numberOf.get(draft) as number),
    notCompared,
  }
}

const lineText = (place: FilePlace | undefined, pointer: string): string => (place ? `line ${place.line}` : pointer)
