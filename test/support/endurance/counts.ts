// The counts of the endurance tests: `npm test` and `npm run test:full` use short ones, `npm run test:long` the long ones or the
// values of environment variables.
import { isFullForm } from '../long-form.ts'

export interface EnduranceCounts {
  /** Equal seeds make equal requests, packets and pauses. */
  readonly seed: number
  readonly kills: number
  readonly badHttpRequests: number
  readonly badMqttPackets: number
  readonly soakSeconds: number
}

export interface LongCounts extends EnduranceCounts {
  /** How long faults happen to several nodes. */
  readonly nodeSeconds: number
  /** How long the memory of a quiet server is watched. */
  readonly quietMinutes: number
}

export const shortCounts: EnduranceCounts = isFullForm
  ? { seed: 14, kills: 2, badHttpRequests: 3000, badMqttPackets: 3000, soakSeconds: 3 }
  : { seed: 14, kills: 1, badHttpRequests: 250, badMqttPackets: 150, soakSeconds: 1 }

const longCounts: LongCounts = {
  seed: 14,
  kills: 300,
  badHttpRequests: 1_000_000,
  badMqttPackets: 1_000_000,
  soakSeconds: 600,
  nodeSeconds: 1200,
  quietMinutes: 120,
}

const variables: Readonly<Record<keyof LongCounts, string>> = {
  seed: 'ENDURANCE_SEED',
  kills: 'ENDURANCE_KILLS',
  badHttpRequests: 'ENDURANCE_HTTP_REQUESTS',
  badMqttPackets: 'ENDURANCE_MQTT_PACKETS',
  soakSeconds: 'ENDURANCE_SOAK_SECONDS',
  nodeSeconds: 'ENDURANCE_NODE_SECONDS',
  quietMinutes: 'ENDURANCE_QUIET_MINUTES',
}

/** The long counts, each replaced by its environment variable where that is set. */
export function longCountsFrom(env: Readonly<Record<string, string | undefined>>): LongCounts {
  const count = (name: keyof LongCounts) => {
    const text = env[variables[name]]
    if (text === undefined) return longCounts[name]
    if (!/^\d+$/.test(text)) throw new Error(`${variables[name]} must be a whole number, not "${text}".`)
    return Number(text)
  }
  return {
    seed: count('seed'),
    kills: count('kills'),
    badHttpRequests: count('badHttpRequests'),
    badMqttPackets: count('badMqttPackets'),
    soakSeconds: count('soakSeconds'),
    nodeSeconds: count('nodeSeconds'),
    quietMinutes: count('quietMinutes'),
  }
}

/** Prints the figures of a run, which docs/reliability.md quotes. */
export function report(title: string, seed: number, figures: Readonly<Record<string, number | string>>): void {
  const parts = Object.entries(figures).map(([name, value]) => `${name} ${value}`)
  process.stdout.write(`${title} (seed ${seed}): ${parts.join(', ')}\n`)
}
