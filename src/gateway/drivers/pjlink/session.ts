// A session with one projector: polls it, reports what changed, and switches it on and off.
import { EventEmitter } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { UpMessage } from '../../../contract/device/protocol.ts'
import type { PowerState } from '../../../contract/fleet/reported-status.ts'
import { type DeviceIdentity, DriverFailure, type DriverSession, type SessionEvents } from '../../driver.ts'
import { changedFields } from '../changed-fields.ts'
import { type PjlinkAnswer, PjlinkTrouble } from './connection.ts'
import { type PjlinkLink, pjlinkFailure } from './link.ts'
import type { PjlinkOptions } from './options.ts'
import {
  answerValue,
  classQuestion,
  identityQuestions,
  inputNameQuestion,
  type PjlinkQuestion,
  type Powr,
  ProjectorFacts,
  powerQuestion,
  powr,
  projectorQuestions,
} from './projector-facts.ts'
import { projectorStatus } from './projector-status.ts'
import type { PjlinkTimings } from './timings.ts'

/** A session ends after this many failed attempts in a row. */
const maxFailures = 3
/** Questions that are asked seldom are spread over several polls, so a control system gets its turn. */
const maxSeldomPerRound = 16
/** A question that stays unanswered this many times is dropped until the projector is switched on. */
const maxSilences = 2
const maxModelCharacters = 64

/** The driver's memory of a projector between two sessions. */
export interface SleepMemory {
  leftInStandby: boolean
  sleeps?: boolean
}

/** A change of power that a person requested. */
interface Switching {
  readonly on: boolean
  isAccepted: boolean
  /** Whether the projector was seen warming up, or cooling down. */
  wasOnItsWay: boolean
}

interface SessionOptions {
  readonly link: PjlinkLink
  readonly options: PjlinkOptions
  readonly timings: PjlinkTimings
  readonly memory: SleepMemory
  /** Aborted when the session ends; `signal` is aborted then too, and when the supervisor gives up. */
  readonly lifetime: AbortController
  readonly signal: AbortSignal
}

export class PjlinkSession extends EventEmitter<SessionEvents> implements DriverSession {
  readonly #options: SessionOptions
  readonly #facts = new ProjectorFacts()
  #identity: DeviceIdentity | undefined
  #reported: UpMessage<'status'> = {}
  /** Polls and changes of power take turns. */
  #turn: Promise<unknown> = Promise.resolve()
  #seldom: readonly [PjlinkQuestion, parameter: string][] = []
  #seldomAt = 0
  /** Questions that the projector does not know, with their class. */
  readonly #dropped = new Set<string>()
  readonly #silences = new Map<string, number>()
  /** Since when it refuses to tell its power. */
  #powerRefusedAt: number | undefined
  #powerChangedAt = Number.NEGATIVE_INFINITY
  /** Since when it is in standby; `isSeen` if the change was seen. */
  #standby: { readonly at: number; readonly isSeen: boolean } | undefined
  /** Set after it was switched off from here. */
  #switchedOffAt = Number.NEGATIVE_INFINITY
  #isOnAgain = false
  /** The current power command; a later one replaces it. */
  #switching: Switching | undefined
  #failure: DriverFailure | undefined

  constructor(options: SessionOptions) {
    super()
    this.#options = options
  }

  get identity(): DeviceIdentity {
    if (!this.#identity) throw new Error('The session has not started.')
    return this.#identity
  }

  status(): UpMessage<'status'> {
    return { ...this.#reported }
  }

  close(): void {
    this.#options.lifetime.abort()
  }

  /** Rejects if there is no session: with a DriverFailure, or with the trouble of the connection. */
  async start(isEnrolled: boolean): Promise<void> {
    const { memory, signal } = this.#options
    await this.#askPower()
    this.#identity = await this.#identify(isEnrolled)
    signal.throwIfAborted()
    if (memory.leftInStandby) memory.sleeps = true
    memory.leftInStandby = false
    this.#refillSeldom()
    this.#reported = this.#makeStatus()
    void this.#run()
  }

  async #identify(isEnrolled: boolean): Promise<DeviceIdentity> {
    const facts = this.#facts
    let isIncomplete = false
    for (const question of [classQuestion, ...Object.values(identityQuestions)]) {
      let answer = await this.#put(question, '?')
      if (answer === 'silent') answer = await this.#put(question, '?')
      if (answer === 'silent') await this.#checkSilence(question)
      const isNotNow = answer !== 'unknown' && answer !== 'silent' && 'error' in answer
      if (isNotNow && question !== identityQuestions.software) isIncomplete = true
    }
    if (isIncomplete && !isEnrolled) {
      const reason = 'The projector does not tell what it is while it is in standby. Switch it on once.'
      throw new DriverFailure('UNREACHABLE', reason)
    }
    const nameless = this.#options.options.kind === 'DISPLAY' ? 'PJLink display' : 'PJLink projector'
    return {
      manufacturer: facts.manufacturer,
      model: facts.model?.slice(0, maxModelCharacters) ?? nameless,
      serial: facts.serial?.slice(0, maxModelCharacters),
      firmwareVersion: facts.software,
    }
  }

  /** A question of class 2 that is not answered can be missing in this model, if the projector still answers others. */
  async #checkSilence({ name, classes }: PjlinkQuestion): Promise<void> {
    await this.#askPower()
    if (classes.includes(1))
      throw new DriverFailure(
        'UNREACHABLE',
        `The projector does not answer the question ${name}, which every projector must answer. Restart it, and check its address.`,
      )
  }

  async #run(): Promise<void> {
    const { timings, options, signal } = this.#options
    let failures = 0
    let waitMs = 0
    while (!signal.aborted) {
      if (waitMs > 0) await pause(waitMs, undefined, { signal }).catch(() => {})
      if (signal.aborted) return
      const startedAt = performance.now()
      try {
        await this.#inTurn(() => this.#round())
        failures = 0
        waitMs = options.pollMs * (0.9 + Math.random() / 10)
      } catch (error) {
        if (signal.aborted) return
        failures++
        if (this.#mustEnd(error, failures)) return this.#end(pjlinkFailure(error, false))
        waitMs = Math.max(1, startedAt + timings.retryEveryMs - performance.now())
      }
    }
  }

  #mustEnd(error: unknown, failures: number): boolean {
    const kind = error instanceof PjlinkTrouble ? error.kind : undefined
    if (kind === 'refused' || kind === 'passwordMissing') return true
    const isQuiet = performance.now() - this.#powerChangedAt < this.#options.timings.quietMs
    // While some projectors warm up, their network starts again.
    const isTurningOn = this.#switching?.on === true || this.#facts.powr === powr.warmUp
    return failures >= maxFailures && !(isQuiet && (kind === 'silent' || isTurningOn))
  }

  #end(failure: DriverFailure): void {
    const { memory, timings } = this.#options
    const standby = this.#standby
    if (failure.state === 'UNREACHABLE' && standby?.isSeen) {
      memory.leftInStandby = performance.now() - standby.at < timings.leavesWithinMs
    }
    this.#failure = failure
    this.close()
    this.emit('ended', failure)
  }

  /** Waits for its turn, and closes the connection afterwards unless the item keeps it open. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const { link, options } = this.#options
    const result = this.#turn.then(async () => {
      try {
        return await work()
      } catch (error) {
        this.#noteLeaving(error)
        throw error
      } finally {
        if (!options.keepsConnection) link.close()
        if (!this.#options.signal.aborted) this.#publish()
      }
    })
    this.#turn = result.catch(() => {})
    return result
  }

  async #round(): Promise<void> {
    await this.#askPower()
    const isOn = this.#facts.powr === powr.on
    let silences = 0
    const put = async (question: PjlinkQuestion, parameter: string) => {
      if ((await this.#put(question, parameter)) === 'silent') silences++
      return silences < maxSilences
    }
    for (const question of projectorQuestions.filter(({ frequency }) => frequency !== 'seldom')) {
      if (question.frequency === 'on' && !isOn) question.note(this.#facts, undefined)
      else if (!(await put(question, '?'))) return
    }
    if (performance.now() - this.#seldomAt >= this.#options.timings.seldomMs) this.#refillSeldom()
    for (let count = 0; count < maxSeldomPerRound && this.#seldom.length > 0; count++) {
      const [next, ...rest] = this.#seldom
      this.#seldom = rest
      const [question, parameter] = next as [PjlinkQuestion, string]
      if (!(await put(question, parameter))) return
      if (question.name !== 'INST') continue
      const names = this.#facts.inputs.map((code): [PjlinkQuestion, string] => [inputNameQuestion(code), `?${code}`])
      // Asked immediately, so inputs have their names when they are reported.
      this.#seldom = [...names, ...this.#seldom]
    }
  }

  #refillSeldom(): void {
    this.#seldomAt = performance.now()
    this.#seldom = projectorQuestions.flatMap((question) =>
      question.frequency === 'seldom' ? [[question, '?'] as const] : [],
    )
  }

  /** Asks and notes. `unknown`: the projector does not have it. */
  async #put(question: PjlinkQuestion, parameter: string): Promise<PjlinkAnswer | 'unknown' | 'silent'> {
    const facts = this.#facts
    for (const pjlinkClass of question.classes) {
      const key = `${pjlinkClass}${question.name}`
      if (pjlinkClass > facts.pjlinkClass || this.#dropped.has(key)) continue
      const answer = await this.#options.link.ask(pjlinkClass, question.name, parameter).catch((error) => {
        if (error instanceof PjlinkTrouble && error.kind === 'silent') return undefined
        throw error
      })
      if (answer === undefined) {
        const silences = (this.#silences.get(key) ?? 0) + 1
        this.#silences.set(key, silences)
        if (silences >= maxSilences) this.#dropped.add(key)
        question.note(facts, undefined)
        return 'silent'
      }
      if ('error' in answer && answer.error === 1) {
        this.#dropped.add(key)
        continue
      }
      this.#noteFailure(question, answer)
      question.note(facts, answerValue(answer))
      return answer
    }
    question.note(facts, undefined)
    return 'unknown'
  }

  #noteFailure({ name }: PjlinkQuestion, answer: PjlinkAnswer): void {
    if ('error' in answer && answer.error === 4) this.#facts.failedQuestions.add(name)
    else this.#facts.failedQuestions.delete(name)
  }

  async #askPower(): Promise<void> {
    const before = this.#facts.powr
    const answer = await this.#options.link.ask(1, powerQuestion.name, '?')
    powerQuestion.note(this.#facts, answerValue(answer))
    // Some projectors answer ERR2 where ERR3 is meant.
    const isRefused = 'error' in answer && (answer.error === 2 || answer.error === 3)
    this.#powerRefusedAt = isRefused ? (this.#powerRefusedAt ?? performance.now()) : undefined
    this.#noteFailure(powerQuestion, answer)
    this.#notePower(before, this.#facts.powr)
  }

  #notePower(before: Powr | undefined, now: Powr | undefined): void {
    if (before === now) return
    const at = performance.now()
    if (before !== undefined) this.#powerChangedAt = at
    this.#standby = now === powr.standby ? { at, isSeen: before !== undefined } : undefined
    const isOnOrWarmingUp = now === powr.on || now === powr.warmUp
    if (!isOnOrWarmingUp) {
      if (now !== undefined) this.#isOnAgain = false
      return
    }
    if (at - this.#switchedOffAt < this.#options.timings.onAgainWithinMs) this.#isOnAgain = true
    if (now === powr.on && before !== undefined) {
      this.#dropped.clear()
      this.#silences.clear()
      this.#refillSeldom()
    }
  }

  /** A projector that cannot be reached after it was cooling, or was told to switch off, is in standby and has left the network. */
  #noteLeaving(error: unknown): void {
    const facts = this.#facts
    const isOff = facts.powr === powr.cooling || (this.#switching?.on === false && this.#switching.isAccepted)
    if (!(error instanceof DriverFailure) || !isOff || facts.powr === powr.standby) return
    this.#notePower(facts.powr, powr.standby)
    facts.powr = powr.standby
    for (const question of projectorQuestions) if (question.frequency === 'on') question.note(facts, undefined)
  }

  #observedPower(): PowerState | undefined {
    if (this.#powerRefusedAt === undefined) return undefined
    return performance.now() - this.#powerRefusedAt < this.#options.timings.longestChangeMs ? 'CHANGING' : 'STANDBY'
  }

  #makeStatus(): UpMessage<'status'> {
    const { memory, timings, options } = this.#options
    // The projector still answers in standby, so it does not leave the network to save energy.
    if (this.#standby && performance.now() - this.#standby.at >= timings.leavesWithinMs) memory.sleeps = false
    const observed = { power: this.#observedPower(), sleeps: memory.sleeps, isOnAgain: this.#isOnAgain }
    return projectorStatus(this.#facts, options, observed)
  }

  #publish(): void {
    const status = this.#makeStatus()
    const changes = changedFields(this.#reported, status)
    this.#reported = status
    if (changes) this.emit('status', changes)
  }

  /** Resolves when the projector shows it. */
  async power(on: boolean): Promise<void> {
    const { timings, signal } = this.#options
    const switching: Switching = { on, isAccepted: false, wasOnItsWay: false }
    this.#switching = switching
    this.#isOnAgain = false
    const until = performance.now() + timings.powerMs
    try {
      for (;;) {
        const isDone = await this.#inTurn(() => this.#switchStep(switching)).catch((error) => {
          if (!(error instanceof PjlinkTrouble || error instanceof DriverFailure || signal.aborted)) throw error
          // A projector can be silent after a change of power, and one that was switched off can have left the network.
          return !on && this.#facts.powr === powr.standby
        })
        if (signal.aborted) throw new Error(this.#failure?.message ?? 'The connection to the projector was ended.')
        if (isDone) break
        if (this.#switching !== switching) throw new Error('A later command has replaced this one.')
        if (performance.now() + timings.followMs >= until) throw new Error(this.#whyNotSwitched(switching))
        await pause(timings.followMs, undefined, { signal }).catch(() => {})
      }
      if (!on) this.#switchedOffAt = performance.now()
    } finally {
      if (this.#switching === switching) this.#switching = undefined
    }
  }

  /** Reads the power, and sends the command unless it was accepted before. Returns whether the projector has reached the power. */
  async #switchStep(switching: Switching): Promise<boolean> {
    const { on } = switching
    this.#options.signal.throwIfAborted()
    await this.#askPower()
    const now = this.#facts.powr
    if (now === (on ? powr.on : powr.standby) || (!on && this.#observedPower() === 'STANDBY')) return true
    const isOnItsWay = now === (on ? powr.warmUp : powr.cooling)
    const isGoingBack = now === (on ? powr.cooling : powr.warmUp)
    if (isOnItsWay) {
      switching.wasOnItsWay = true
      return false
    }
    if (!on && switching.wasOnItsWay && now !== undefined) {
      this.#isOnAgain = true
      throw new Error('The projector switched itself on again after it had cooled down.')
    }
    if (isGoingBack || switching.isAccepted || this.#switching !== switching) return false
    // Noted before the command, because its answer can be lost.
    this.#powerChangedAt = performance.now()
    const answer = await this.#options.link.ask(1, 'POWR', on ? '1' : '0')
    if ('value' in answer) switching.isAccepted = true
    else if (answer.error === 1) throw new Error('The projector cannot be switched over PJLink (ERR1).')
    else if (answer.error === 4) throw new Error('The projector reports a failure (ERR4). Look at its display.')
    return false
  }

  #whyNotSwitched({ on, isAccepted }: Switching): string {
    const word = on ? 'on' : 'off'
    const now = this.#facts.powr
    if (now === powr.cooling) return `The projector is still cooling down, and refuses to be switched ${word}.`
    if (now === powr.warmUp) return `The projector is still warming up, and is not ${word}.`
    if (isAccepted) return `The projector accepted the command, but does not show that it is ${word}.`
    return `The projector refuses to be switched ${word} now (ERR3).`
  }
}
