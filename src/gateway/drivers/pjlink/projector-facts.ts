// The questions to a projector, and the facts that its answers give. A value that cannot be read counts as unknown.
import { realSerial } from '../../../contract/device/placeholders.ts'
import type { PjlinkAnswer, PjlinkClass } from './connection.ts'

/** The power as POWR says it. */
export const powr = { standby: '0', on: '1', cooling: '2', warmUp: '3' } as const
export type Powr = (typeof powr)[keyof typeof powr]

interface Lamp {
  readonly hours: number
  readonly isLit: boolean
}

export class ProjectorFacts {
  pjlinkClass: PjlinkClass = 1
  name?: string | undefined
  manufacturer?: string | undefined
  model?: string | undefined
  information?: string | undefined
  serial?: string | undefined
  software?: string | undefined
  lampModel?: string | undefined
  filterModel?: string | undefined
  powr?: Powr | undefined
  /** The code of the active input, such as `31`. */
  input?: string | undefined
  inputs: readonly string[] = []
  readonly inputNames = new Map<string, string>()
  mute?: { readonly picture: boolean; readonly sound: boolean } | undefined
  /** ERST: six digits. */
  errors?: string | undefined
  lamps?: readonly Lamp[] | undefined
  filterHours?: number | undefined
  /** Empty means that there is no signal. */
  resolution?: string | undefined
  recommendedResolution?: string | undefined
  /** Questions whose latest answer was ERR4, the failure of the device. */
  readonly failedQuestions = new Set<string>()
}

/**
 * `round`: each time. `on`: each time while it is on, and otherwise the value is cleared. `seldom`: at the
 * start, after it was switched on, and every half hour.
 */
type Frequency = 'round' | 'on' | 'seldom'

export interface PjlinkQuestion {
  readonly name: string
  /** 1 and 2: asked in class 2 if the projector has it, else in class 1. */
  readonly classes: readonly PjlinkClass[]
  readonly frequency: Frequency
  /** Notes the answer; undefined if the projector does not tell it now. */
  note(facts: ProjectorFacts, value: string | undefined): void
}

const either = [2, 1] as const
const question = (
  name: string,
  classes: readonly PjlinkClass[],
  frequency: Frequency,
  note: PjlinkQuestion['note'],
): PjlinkQuestion => ({ name, classes, frequency, note })

/** Notes a value that stays the same while the projector does not tell it. */
const lasting =
  <K extends keyof ProjectorFacts>(field: K, read: (value: string) => ProjectorFacts[K]): PjlinkQuestion['note'] =>
  (facts, value) => {
    const known = value === undefined ? undefined : read(value)
    if (known !== undefined) facts[field] = known
  }
const passing =
  <K extends keyof ProjectorFacts>(field: K, read: (value: string) => ProjectorFacts[K]): PjlinkQuestion['note'] =>
  (facts, value) => {
    facts[field] = value === undefined ? (undefined as ProjectorFacts[K]) : read(value)
  }

const matching = (pattern: RegExp) => (value: string) => (pattern.test(value) ? value : undefined)
const readHours = (value: string) => (/^\d{1,5}$/.test(value) ? Number(value) : undefined)
/** `-` means no signal, `*` that it is not known. */
const readResolution = (value: string) => (value === '-' ? '' : matching(/^\d{1,5}x\d{1,5}$/i)(value)?.toLowerCase())

function readMute(value: string): ProjectorFacts['mute'] {
  if (!/^[123][01]$/.test(value)) return undefined
  const isOn = value.endsWith('1')
  return { picture: isOn && !value.startsWith('2'), sound: isOn && !value.startsWith('1') }
}

function readLamps(value: string): readonly Lamp[] | undefined {
  if (!/^\d{1,5} [01](?: \d{1,5} [01]){0,7}$/.test(value)) return undefined
  const words = value.split(' ')
  return words.flatMap((hours, i) => (i % 2 === 0 ? [{ hours: Number(hours), isLit: words[i + 1] === '1' }] : []))
}

/** The specification has two characters; some projectors have more. */
const inputCode = /^[1-6][0-9A-Z]{1,3}$/
/** As many as a status report can have. */
const maxInputs = 32
function readInputs(value: string): readonly string[] | undefined {
  const codes = value.toUpperCase().trim().split(/ +/)
  return codes.every((code) => inputCode.test(code)) ? [...new Set(codes)].slice(0, maxInputs) : undefined
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
/** Text in UTF-8, or else in Latin-1, without control characters; undefined if nothing remains. */
function readText(value: string): string | undefined {
  const bytes = Buffer.from(value, 'latin1')
  const text = (() => {
    try {
      return utf8.decode(bytes)
    } catch {
      return value
    }
  })()
  const clean = text.replaceAll(/\p{C}/gu, '').trim()
  return clean === '' ? undefined : clean
}

const readSerial = (value: string) => realSerial(readText(value))

/** The first question: every projector knows it, and the answer proves that the session stands. */
export const powerQuestion = question('POWR', [1], 'round', passing('powr', matching(/^[0-3]$/) as () => Powr))
export const classQuestion = question('CLSS', [1], 'seldom', (facts, value) => {
  if (value === '1' || value === '2') facts.pjlinkClass = value === '2' ? 2 : 1
})
export const identityQuestions = {
  manufacturer: question('INF1', [1], 'seldom', lasting('manufacturer', readText)),
  model: question('INF2', [1], 'seldom', lasting('model', readText)),
  serial: question('SNUM', [2], 'seldom', lasting('serial', readSerial)),
  software: question('SVER', [2], 'seldom', lasting('software', readText)),
} as const
export const projectorQuestions: readonly PjlinkQuestion[] = [
  classQuestion,
  question('ERST', [1], 'round', lasting('errors', matching(/^[0-2]{6}$/))),
  question(
    'INPT',
    either,
    'on',
    passing('input', (value) => matching(inputCode)(value.toUpperCase())),
  ),
  question('AVMT', [1], 'on', passing('mute', readMute)),
  question('IRES', [2], 'on', passing('resolution', readResolution)),
  question('NAME', [1], 'seldom', lasting('name', readText)),
  question('LAMP', [1], 'seldom', lasting('lamps', readLamps)),
  question('FILT', [2], 'seldom', lasting('filterHours', readHours)),
  question(
    'INST',
    either,
    'seldom',
    lasting('inputs', (value) => readInputs(value) as readonly string[]),
  ),
  identityQuestions.software,
  question('INFO', [1], 'seldom', lasting('information', readText)),
  question('RLMP', [2], 'seldom', lasting('lampModel', readText)),
  question('RFIL', [2], 'seldom', lasting('filterModel', readText)),
  question('RRES', [2], 'seldom', lasting('recommendedResolution', readResolution)),
]

/** The name of an input; projectors of class 1 have none. */
export const inputNameQuestion = (code: string): PjlinkQuestion =>
  question('INNM', [2], 'seldom', (facts, value) => {
    const name = value === undefined ? undefined : readText(value)
    if (name !== undefined) facts.inputNames.set(code, name)
  })

/** The answer's value, if it has one. */
export const answerValue = (answer: PjlinkAnswer): string | undefined => ('value' in answer ? answer.value : undefined)
