// A plan says what then happens: pairs of an organisation and a document, generated.
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { generatedRuns } from '../../test/support/long-form.ts'
import { edited, type Gen, generatedDocument } from '../../test/support/plan/generated.ts'
import { ModelOrganisation } from '../../test/support/plan/model.ts'
import type { RuleId } from '../contract/incidents/rule-table.ts'
import { checkDocument } from './check-document.ts'
import { canonical } from './compare.ts'
import type { OrganisationDocument } from './document.ts'
import { documentOf } from './document-of.ts'
import { ruleDefaults } from './entries.ts'
import { makePlan } from './make-plan.ts'
import type { OrganisationPlan } from './plan.ts'
import { type Kind, kinds, type OrganisationThing, type Snapshot, type Values } from './things.ts'

const serial = 'GATEWAY-1'
const rules: readonly RuleId[] = ['storage.low', 'device.offline']
/** Things that no document makes. */
const given: readonly OrganisationThing[] = [
  ...['CAMERA-1', 'CAMERA-2'].map((own) => ({ kind: 'endpoint' as const, id: own, values: { serial: own } })),
  ...rules.map((rule) => ({ kind: 'incidentRule' as const, id: rule, values: ruleDefaults(rule) as Values })),
]
const everything = { read: true, operate: true, write: true, manage: true, everywhere: true, auditLog: true }
const emptySnapshot: Snapshot = {
  organisation: 'own',
  permissions: everything,
  seesAllRegions: true,
  things: given,
  hiddenKinds: [],
  endpointsByRoom: new Map(),
  profileUses: new Map(),
  ownerEmails: ['owner@example.org'],
  gateways: [{ id: 'gateway', serial }],
}

const carriedOut = (snapshot: Snapshot, { steps }: OrganisationPlan): Snapshot => {
  const model = new ModelOrganisation(snapshot)
  model.run(steps)
  return model.snapshot()
}

/** Ids from 1 for each kind, as the service gives them. */
function organisationOf(document: OrganisationDocument, g: Gen): Snapshot {
  const made = carriedOut(emptySnapshot, makePlan(document, emptySnapshot))
  const ids = new Map<string, number>()
  const counts = new Map<string, number>()
  for (const { kind, id } of made.things) {
    if (typeof id === 'string') continue
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
    ids.set(`${kind} ${id}`, counts.get(kind) as number)
  }
  const renumbered = JSON.parse(JSON.stringify(made.things), (_, value) =>
    typeof value?.kind === 'string' && ids.has(`${value.kind} ${value.id}`)
      ? { ...value, id: ids.get(`${value.kind} ${value.id}`) }
      : value,
  ) as OrganisationThing[]
  const things = renumbered.map((thing) =>
    typeof thing.id === 'number' && ['user', 'silence', 'channel', 'gatewayDevice'].includes(thing.kind)
      ? { ...thing, id: String(thing.id) }
      : thing,
  )
  const rooms = things.filter(({ kind }) => kind === 'room')
  const endpointsByRoom = new Map(
    rooms.filter(() => g(fc.boolean)).map(({ id }) => [id as number, g(() => fc.integer({ min: 1, max: 3 }))]),
  )
  return new ModelOrganisation({ ...emptySnapshot, things, endpointsByRoom }).snapshot()
}

const keyed = ({ things }: Snapshot) => new Map(things.map((thing) => [`${thing.kind} ${thing.id}`, thing]))

/** Lists the differences between two snapshots, written as a plan would say it, but found without one. */
function differences(before: Snapshot, after: Snapshot): string[] {
  const [old, now] = [keyed(before), keyed(after)]
  const keys = [...new Set([...old.keys(), ...now.keys()])]
  return keys.flatMap((key) => {
    const [a, b] = [old.get(key)?.values, now.get(key)?.values]
    if (!a) return [`create ${key.split(' ')[0]}`]
    if (!b) return [`delete ${key}`]
    const fields = [...new Set([...Object.keys(a), ...Object.keys(b)])].filter(
      (f) => canonical(a[f] ?? null) !== canonical(b[f] ?? null),
    )
    return fields.map((field) => `change ${key} ${field}`)
  })
}

/** The rooms of a document with their paths and what the document says about them, without ids and profiles. */
const roomsOf = ({ regions = [], locations = [], rooms = [] }: OrganisationDocument) => {
  const located = [
    ...locations.map((location) => ({ path: [location.name], location })),
    ...regions.flatMap((region) => (region.locations ?? []).map((l) => ({ path: [region.name, l.name], location: l }))),
  ]
  return [
    ...rooms.map((room) => ({ path: [] as string[], room })),
    ...located.flatMap(({ path, location }) => (location.rooms ?? []).map((room) => ({ path, room }))),
  ].map(({ path, room: { name, capacity } }) => ({
    path: [...path, name],
    ...(capacity !== undefined && { capacity }),
  }))
}

const promises = ({ steps }: OrganisationPlan): string[] =>
  steps.flatMap(({ operation, kind, id, changes }) => {
    if (operation.endsWith('Create')) return [`create ${kind}`]
    if (operation.endsWith('Delete')) return [`delete ${kind} ${id}`]
    return [...new Set(changes.map(({ field }) => `change ${kind} ${id} ${field.split('.')[0]}`))]
  })

/** The service takes a place that is deleted from users, channels and devices of gateways, and ends its silences, which are not steps. */
const isEffectOfDeletion = (difference: string, plan: OrganisationPlan) =>
  /^change (user|channel|gatewayDevice) \S+ (regions|locations|room)$|^delete silence /.test(difference) &&
  plan.steps.some(({ operation }) => /^(regions|locations|rooms|silences)Delete$/.test(operation))

test('a plan says what then happens, and a second plan has nothing to do', () => {
  const plannedOf = new Map<Kind, number>()
  let planned = 0
  const runs = generatedRuns({ short: 120, full: 2000, long: 10_000 })
  fc.assert(
    fc.property(fc.gen(), (gen) => {
      const make: Gen = (arbitrary) => gen(arbitrary)
      const before = organisationOf(generatedDocument(make, 'own', serial), make)
      const document = edited(make, documentOf(before), before)
      const options = { prune: make(fc.boolean), setSecrets: make(fc.boolean) }
      const plan = makePlan(document, before, options)
      if (plan.problems.length > 0) {
        expect(plan.steps).toEqual([])
        return
      }
      planned++
      for (const kind of new Set(plan.steps.map((step) => step.kind)))
        plannedOf.set(kind, (plannedOf.get(kind) ?? 0) + 1)
      expect(checkDocument(document)).toEqual({ document })
      const after = carriedOut(before, plan)
      const found = differences(before, after).filter((line) => !isEffectOfDeletion(line, plan))
      const said = promises(plan).filter((line) => !/ (url|secret)$/.test(line))
      expect(found.sort()).toEqual(said.filter((line) => !isEffectOfDeletion(line, plan)).sort())
      const rooms = roomsOf(documentOf(after))
      // Several rooms can have one path: what is said in more detail is looked for first.
      const wanted = roomsOf(document).sort((a, b) => Object.keys(b).length - Object.keys(a).length)
      for (const room of wanted) {
        const i = rooms.findIndex((other) =>
          isDeepStrictEqual({ capacity: null, ...other }, { capacity: null, ...other, ...room }),
        )
        expect(i).toBeGreaterThan(-1)
        rooms.splice(i, 1)
      }
      const again = makePlan(document, after, { ...options, setSecrets: false })
      expect({ problems: again.problems, steps: again.steps }).toEqual({ problems: [], steps: [] })
    }),
    { ...runs, endOnFailure: true },
  )
  // The others have mistakes.
  expect(planned).toBeGreaterThan(runs.numRuns / 3)
  for (const kind of kinds) expect(plannedOf.get(kind), kind).toBeGreaterThan(runs.numRuns / 60)
})
