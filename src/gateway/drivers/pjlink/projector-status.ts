// Turns what a projector has said into a status report, with faults in words for a technician.
import type { UpMessage } from '../../../contract/device/protocol.ts'
import type { FaultLevel, PowerState } from '../../../contract/fleet/reported-status.ts'
import { type Powr, type ProjectorFacts, powr } from './projector-facts.ts'

export interface ProjectorStatusOptions {
  readonly kind: 'PROJECTOR' | 'DISPLAY'
  /** Hours after which a lamp or a filter is worn; 0 if only the projector itself says so. */
  readonly lampLifeHours: number
  readonly filterLifeHours: number
}

/** Facts that the session finds out by following the projector. */
export interface ObservedProjector {
  /** Set if the projector does not tell its power. */
  readonly power?: PowerState | undefined
  readonly sleeps?: boolean | undefined
  readonly isOnAgain: boolean
}

interface Fault {
  readonly code: string
  readonly level: FaultLevel
  readonly text: string
}

const powerOf: Record<Powr, PowerState> = {
  [powr.standby]: 'STANDBY',
  [powr.on]: 'ON',
  [powr.cooling]: 'CHANGING',
  [powr.warmUp]: 'CHANGING',
}

/** The six digits of ERST, in its order: the text of a warning, and of an error. */
const errorTexts = [
  ['fan', 'A fan runs badly. Clean the air intake and check the fan.', 'A fan has failed. Have it replaced.'],
  [
    'lamp',
    'The lamp is worn. Order a new one and replace it soon.',
    'The lamp has failed or is at its end. Replace it.',
  ],
  [
    'temperature',
    'The temperature is high. Check the air intake, the filter and the room.',
    'The temperature is too high. Switch it off, let it cool, and check the air intake and the filter.',
  ],
  ['cover', 'A cover is not closed well. Check the covers of lamp and filter.', 'A cover is open. Close it.'],
  ['filter', 'The filter is dirty or worn. Clean or replace it soon.', 'The filter is clogged. Clean or replace it.'],
  ['other', 'It reports a warning. Look at its display or its web page.', 'It reports an error. Look at its display.'],
] as const

const inputKinds: Record<string, string> = {
  1: 'RGB',
  2: 'Video',
  3: 'Digital',
  4: 'Storage',
  5: 'Network',
  6: 'Internal',
}
/** The limit of a name in a status report. */
const maxNameCharacters = 100

function inputName(facts: ProjectorFacts, code: string): string {
  const name = facts.inputNames.get(code) ?? `${inputKinds[code[0] as string] ?? 'Input'} ${code.slice(1)}`
  return name.slice(0, maxNameCharacters)
}

function faultsOf(facts: ProjectorFacts, options: ProjectorStatusOptions, isOnAgain: boolean): Fault[] {
  const faults = errorTexts.flatMap(([code, warning, error], i): Fault[] => {
    const digit = facts.errors?.[i]
    if (digit === '1') return [{ code, level: 'WARNING', text: warning }]
    return digit === '2' ? [{ code, level: 'CRITICAL', text: error }] : []
  })
  const { lamps = [], filterHours = 0 } = facts
  const inHours = (hours: number) => `${hours.toLocaleString('en')} hours`
  lamps.forEach(({ hours }, i) => {
    if (options.lampLifeHours === 0 || hours < options.lampLifeHours) return
    const which = lamps.length > 1 ? `Lamp ${i + 1}` : 'The lamp'
    const text = `${which} has run for ${inHours(hours)} of ${inHours(options.lampLifeHours)}. Replace it.`
    faults.push({ code: i === 0 ? 'lampWorn' : `lampWorn${i + 1}`, level: 'WARNING', text })
  })
  if (options.filterLifeHours > 0 && filterHours >= options.filterLifeHours) {
    const text = `The filter has run for ${inHours(filterHours)} of ${inHours(options.filterLifeHours)}. Clean or replace it.`
    faults.push({ code: 'filterWorn', level: 'WARNING', text })
  }
  if (facts.failedQuestions.size > 0) {
    const text = 'The projector answers that it has failed (ERR4). Look at its display or its web page.'
    faults.push({ code: 'failure', level: 'CRITICAL', text })
  }
  if (isOnAgain) {
    const text =
      'It switched itself on again after it was switched off. Check its settings for automatic power on, and the control system.'
    faults.push({ code: 'onAgain', level: 'WARNING', text })
  }
  return faults
}

function readingsOf({ lamps = [], filterHours }: ProjectorFacts) {
  const lampHours = lamps.map(({ hours }, i) => ({ name: `lampHours${i === 0 ? '' : i + 1}`, value: hours, unit: 'h' }))
  return [...lampHours, ...(filterHours === undefined ? [] : [{ name: 'filterHours', value: filterHours, unit: 'h' }])]
}

function factsOf(facts: ProjectorFacts) {
  const texts: [string, string | undefined][] = [
    ['picture', facts.mute?.picture ? 'The picture is muted: the screen is black.' : undefined],
    ['information', facts.information],
    ['lampModel', facts.lampModel],
    ['filterModel', facts.filterModel],
    ['recommendedResolution', facts.recommendedResolution],
    ['pjlinkClass', String(facts.pjlinkClass)],
  ]
  return texts.flatMap(([name, text]) => (text === undefined ? [] : [{ name, text }]))
}

/** Fields that are not known are absent. */
export function projectorStatus(
  facts: ProjectorFacts,
  options: ProjectorStatusOptions,
  observed: ObservedProjector,
): UpMessage<'status'> {
  const readings = readingsOf(facts)
  const hasFaults = facts.errors !== undefined || facts.lamps !== undefined || facts.failedQuestions.size > 0
  const faults = faultsOf(facts, options, observed.isOnAgain)
  const fields = {
    kind: options.kind,
    actions: ['power'],
    name: facts.name?.slice(0, maxNameCharacters),
    manufacturer: facts.manufacturer,
    firmwareVersion: facts.software,
    power: facts.powr === undefined ? observed.power : powerOf[facts.powr],
    sleeps: observed.sleeps,
    activeInput: facts.input === undefined ? undefined : inputName(facts, facts.input),
    inputs: facts.inputs.length > 0 ? facts.inputs.map((code) => inputName(facts, code)) : undefined,
    inputResolution: facts.resolution,
    muted: facts.mute?.sound,
    faults: hasFaults || faults.length > 0 ? faults : undefined,
    readings: readings.length > 0 ? readings : undefined,
    facts: factsOf(facts),
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
}
