// Runs the engine of incidents for an organisation, and keeps the findings in memory.
import { defaultAirLimits } from '../../src/contract/journal/orgs.ts'
import { defaultSensorSettings } from '../../src/server/config/sensor-settings.ts'
import { type AdvancedFindings, advanceFindings } from '../../src/server/incidents/engine/findings.ts'
import { KnownPeripherals } from '../../src/server/incidents/engine/observations/known-peripherals.ts'
import { type ObservationResult, observeFull, observeQuick } from '../../src/server/incidents/engine/observe.ts'
import type { Finding, RulesInForce } from '../../src/server/incidents/engine/types.ts'
import { defaultRules } from '../../src/server/incidents/incident-rules/in-force.ts'
import type { Harness, TestOrg } from './harness.ts'

/** The names of rules and ids of subjects that a run has changed. */
interface RunResult {
  readonly matured: readonly string[]
  readonly ended: readonly string[]
  readonly advanced: AdvancedFindings
}

export class FindingsWatch {
  readonly #harness: Harness
  readonly #org: TestOrg
  #from: number
  findings: readonly Finding[] = []
  rules: RulesInForce = defaultRules
  certificateExpiresAt: number | undefined
  /** The ids of the endpoints that are gateways. */
  gateways: ReadonlySet<string> = new Set()
  readonly #peripherals = new KnownPeripherals()
  /** Whether a silence covers all subjects. */
  isSilenced = false

  constructor(harness: Harness, org: TestOrg) {
    this.#harness = harness
    this.#org = org
    this.#from = harness.clock.now()
  }

  get #on() {
    return this.#harness.services.db.forOrg(this.#org.org.key)
  }

  async quick(): Promise<RunResult> {
    const { findings, rules, certificateExpiresAt, isSilenced: hasSilences } = this
    const run = {
      ...this.#times,
      from: this.#from,
      findings,
      rules,
      orgId: this.#org.id,
      certificateExpiresAt,
      hasSilences,
      isSilenced: () => hasSilences,
      isReturning: () => false,
    }
    return this.#advance(await observeQuick(this.#on, run))
  }

  get #times() {
    const times = this.#harness.services.reconnects.current
    return { now: times.now, times, gateways: this.gateways }
  }

  async full(): Promise<RunResult> {
    const { findings, rules, certificateExpiresAt } = this
    const settings = defaultSensorSettings
    const run = {
      ...this.#times,
      findings,
      rules,
      settings,
      airLimits: defaultAirLimits,
      peripherals: this.#peripherals,
      orgId: this.#org.id,
      certificateExpiresAt,
      isSilenced: () => this.isSilenced,
    }
    return this.#advance(await observeFull(this.#on, run))
  }

  #advance(observed: ObservationResult): RunResult {
    const now = this.#harness.clock.now()
    const advanced = advanceFindings({
      ...observed,
      findings: this.findings,
      rules: this.rules,
      now,
      isSilenced: () => this.isSilenced,
      presenceFrom: () => undefined,
      isGone: () => false,
    })
    this.#from = now
    this.findings = advanced.findings
    return {
      advanced,
      matured: advanced.matured.map(nameOf).sort(),
      ended: advanced.ended.map(({ finding }) => nameOf(finding)).sort(),
    }
  }

  /** The detail of the finding of a rule, whichever subject has it. */
  detailOf(rule: string) {
    return this.findings.find((finding) => finding.rule === rule)?.detail
  }
}

const nameOf = ({ rule, subject }: Finding) => `${rule} ${subject.id}`
