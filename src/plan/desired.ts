// Reads the fields of an entry, with things and entries instead of references.
import { type DriverId, drivers } from '../contract/fleet/drivers.ts'
import { isEnvSecret } from './compare.ts'
import type { Reference } from './document.ts'
import type { Entry } from './entries.ts'
import { kindTable } from './kinds.ts'
import { gatewaysNamed, portOf, type Report } from './match.ts'
import type { OrganisationIndex } from './organisation.ts'
import type { References, Referent } from './references.ts'
import type { Kind, ThingValue, Values } from './things.ts'

interface DesiredInput {
  readonly organisation: OrganisationIndex
  readonly references: References
  readonly report: Report
}

/** Fields of other kinds that name a thing. The parent of a site is its place in the document. */
const referencedKinds: Readonly<Record<string, Kind>> = {
  profile: 'profile',
  room: 'room',
  regions: 'region',
  locations: 'location',
}

/** Reports references that have no meaning, and leaves their fields out. */
export function desiredValues(entry: Entry, input: DesiredInput): Values {
  const { kind, fields } = entry
  const values: Record<string, ThingValue> = {}
  for (const [name, fieldKind] of Object.entries(kindTable[kind].fields)) {
    const given = fields[name]
    if (given === undefined) continue
    const value = fieldKind === 'reference' || fieldKind === 'references' ? refer(entry, name, given, input) : given
    if (value !== undefined) values[name] = value as ThingValue
  }
  if (kind === 'gatewayDevice') {
    values.port = portOf(fields) as number
    const gateways = gatewaysNamed(input.organisation, String(fields.gateway))
    if (gateways.length === 1) values.gateway = gateways[0]?.id as string
    else input.report(entry, gatewayProblem(String(fields.gateway), gateways), 'gateway')
    for (const { name, message } of optionProblems(fields)) input.report(entry, message, 'options', name)
  }
  return values
}

function refer(entry: Entry, name: string, given: unknown, input: DesiredInput): ThingValue | undefined {
  if (given === null) return null
  if (isEntry(given)) return toValue(input.references.ofEntry(given))
  if (name === 'place') return placeOf(entry, given as Readonly<Record<string, unknown>>, input)
  const kind = referencedKinds[name] as Kind
  if (name === 'regions' || name === 'locations') {
    const values = (given as Reference[]).map((reference, i) => find(entry, kind, reference, input, name, `${i}`))
    return values.every((value) => value !== undefined) ? values : undefined
  }
  return find(entry, kind, given as Reference, input, name)
}

function placeOf(entry: Entry, place: Readonly<Record<string, unknown>>, input: DesiredInput): ThingValue | undefined {
  const [kind, given] = Object.entries(place)[0] as [string, unknown]
  if (kind === 'all') return 'all'
  if (kind !== 'endpoint') return find(entry, kind as Kind, given as Reference, input, 'place', kind)
  const [endpoint] = input.organisation.byPath('endpoint', [String(given).trim()])
  if (endpoint) return { kind: 'endpoint', id: endpoint.id }
  const text = `No endpoint has the serial number ${given}. Enrol it first, or remove the entry.`
  input.report(entry, text, 'place', kind)
  return undefined
}

function find(
  entry: Entry,
  kind: Kind,
  reference: Reference,
  { references, report }: DesiredInput,
  ...keys: readonly string[]
): ThingValue | undefined {
  const referent = references.find(kind, reference)
  if (typeof referent !== 'string') return toValue(referent)
  report(entry, referent, ...keys)
  return undefined
}

const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && 'listsChildren' in value

const toValue = (referent: Referent): ThingValue =>
  'thing' in referent
    ? { kind: referent.thing.kind, id: referent.thing.id }
    : { kind: referent.entry.kind, pointer: referent.entry.pointer }

/** The shape of the document cannot say which options are secret: that depends on the driver. The value itself is not repeated. */
function optionProblems({ driver, options }: Entry['fields']): { name: string; message: string }[] {
  const secrets = new Set(
    drivers[driver as DriverId].fields.flatMap(({ name, isOption, secret }) => (isOption && secret ? [name] : [])),
  )
  return Object.entries((options ?? {}) as Values).flatMap(([name, value]) => {
    if (secrets.has(name)) {
      return value === null || isEnvSecret(value)
        ? []
        : [{ name, message: `The option ${name} is a secret. Write {env: NAME}.` }]
    }
    return isEnvSecret(value) ? [{ name, message: `The option ${name} is not a secret. Write its value.` }] : []
  })
}

const gatewayProblem = (name: string, { length }: readonly unknown[]): string =>
  length === 0
    ? `No gateway has the serial number or the name ${name}. Enrol it first, or remove the entry.`
    : `${length} gateways have the name ${name}. Use the serial number.`
