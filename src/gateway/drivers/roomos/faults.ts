// The faults of a codec: its diagnostics, its temperature, its notifications and its clock, held while diagnostics run again.
import type { FaultLevel } from '../../../contract/fleet/reported-status.ts'
import type { Codec } from './codec.ts'

export interface CodecFault {
  readonly code: string
  readonly level: FaultLevel
  readonly text: string
}

const maxFaults = 32
const maxTextCharacters = 255
const dayMs = 86_400_000
/** The time of a codec can lack its zone, so a smaller difference says nothing. */
const maxClockErrorMs = 2 * dayMs

const levels: readonly FaultLevel[] = ['INFO', 'WARNING', 'CRITICAL']

/** The faults that the codec has now; several with one code are one, with the worst level and all texts. */
export function presentFaults(codec: Codec, clockErrorMs: number): CodecFault[] {
  const byCode = new Map<string, CodecFault>()
  for (const fault of [...diagnostics(codec), ...otherFaults(codec, clockErrorMs)]) {
    const known = byCode.get(fault.code)
    const level = known && levels.indexOf(known.level) > levels.indexOf(fault.level) ? known.level : fault.level
    const texts = known && known.text !== fault.text ? `${known.text} ${fault.text}` : fault.text
    byCode.set(fault.code, { code: fault.code, level, text: texts.slice(0, maxTextCharacters) })
  }
  return [...byCode.values()].sort((a, b) => levels.indexOf(b.level) - levels.indexOf(a.level)).slice(0, maxFaults)
}

function diagnostics(codec: Codec): CodecFault[] {
  return codec.status.ids('Diagnostics Message[n]').map((id) => {
    const type = codec.status.text('Diagnostics Message[n] Type', id) ?? ''
    const code = type.replaceAll(/[^A-Za-z0-9._-]/g, '').slice(0, 64) || 'Diagnostics'
    return {
      code,
      level: levelOf(codec, id),
      text: codec.status.text('Diagnostics Message[n] Description', id) || code,
    }
  })
}

/** A codec says Error for a fault that does not stop it. */
function levelOf(codec: Codec, id: string): FaultLevel {
  if (codec.is('Diagnostics Message[n] Level', 'Critical', id)) return 'CRITICAL'
  const isWarning =
    codec.is('Diagnostics Message[n] Level', 'Error', id) || codec.is('Diagnostics Message[n] Level', 'Warning', id)
  return isWarning ? 'WARNING' : 'INFO'
}

function otherFaults(codec: Codec, clockErrorMs: number): CodecFault[] {
  const faults: CodecFault[] = []
  const temperature = 'SystemUnit Hardware Monitoring Temperature Status'
  if (codec.is(temperature, 'Critical')) {
    faults.push({ code: 'Temperature', level: 'CRITICAL', text: 'The codec is far too hot.' })
  } else if (codec.is(temperature, 'High')) {
    faults.push({ code: 'Temperature', level: 'WARNING', text: 'The codec is too hot.' })
  }
  for (const id of codec.status.ids('SystemUnit Notifications Notification[n]')) {
    const text = codec.status.text('SystemUnit Notifications Notification[n] Text', id)
    if (codec.is('SystemUnit Notifications Notification[n] Type', 'RebootRequired', id)) {
      faults.push({ code: 'RebootRequired', level: 'INFO', text: text || 'A change takes effect after a restart.' })
    }
    if (codec.is('SystemUnit Notifications Notification[n] Type', 'SoftwareUpgradeFailed', id)) {
      faults.push({ code: 'SoftwareUpgradeFailed', level: 'WARNING', text: text || 'The software upgrade failed.' })
    }
  }
  for (const id of codec.status.ids('Network[n]')) {
    const isRefused = codec.is('Network[n] IEEE8021X Status', 'AuthFailed', id)
    if (isRefused || codec.is('Network[n] IEEE8021X Status', 'Failed', id)) {
      faults.push({ code: 'IEEE8021X', level: 'WARNING', text: 'The codec could not sign in to the network (802.1X).' })
    }
  }
  const clockErrorDays = Math.round(Math.abs(clockErrorMs) / dayMs)
  if (Math.abs(clockErrorMs) > maxClockErrorMs) {
    const direction = clockErrorMs > 0 ? 'ahead' : 'behind'
    faults.push({
      code: 'Clock',
      level: 'WARNING',
      text: `The clock of the codec is ${clockErrorDays} days ${direction}.`,
    })
  }
  return faults
}

/** Keeps a fault until it has been absent for a while. */
export class HeldFaults {
  readonly #heldMs: number
  /** `absentSinceMs` is undefined for a fault that was present the last time. */
  readonly #faults = new Map<string, { fault: CodecFault; absentSinceMs: number | undefined }>()

  constructor(heldMs: number) {
    this.#heldMs = heldMs
  }

  update(present: readonly CodecFault[], nowMs: number): CodecFault[] {
    const codes = new Set(present.map(({ code }) => code))
    for (const [code, held] of this.#faults) {
      if (!codes.has(code)) held.absentSinceMs ??= nowMs
    }
    for (const fault of present) this.#faults.set(fault.code, { fault, absentSinceMs: undefined })
    for (const [code, { absentSinceMs = nowMs }] of this.#faults) {
      if (nowMs - absentSinceMs >= this.#heldMs && !codes.has(code)) this.#faults.delete(code)
    }
    const worst = [...this.#faults.values()]
      .map(({ fault }) => fault)
      .sort((a, b) => levels.indexOf(b.level) - levels.indexOf(a.level) || a.code.localeCompare(b.code))
    for (const { code } of worst.slice(maxFaults)) this.#faults.delete(code)
    return worst.slice(0, maxFaults)
  }
}
