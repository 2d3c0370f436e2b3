// `roomkeeper apply`: shows the plan, asks, and carries it out.
import { applyPlan, type StepOutcome } from '../../apply/apply-plan.ts'
import { secretNamesOf } from '../../apply/secrets.ts'
import type { Allowance, OrganisationPlan } from '../../plan/plan.ts'
import { connectToServer } from '../http/connect.ts'
import { CommandError } from '../terminal/command-error.ts'
import { Progress } from '../terminal/progress.ts'
import { printResult, type Terminal } from '../terminal/terminal.ts'
import { type PlanCommandOptions, planOf } from './plan.ts'
import { readDocument } from './read-file.ts'
import { planLines } from './show-plan.ts'

interface ApplyCommandOptions extends PlanCommandOptions {
  readonly allowRollout?: boolean
  readonly allowUnenrol?: boolean
  readonly yes?: boolean
}

export async function applyCommand(terminal: Terminal, file: string, options: ApplyCommandOptions): Promise<void> {
  const read = readDocument(file)
  const { client } = connectToServer(terminal, options)
  const plan = await planOf(client, file, read, options)
  if (!options.json) printResult(terminal, false, undefined, planLines(file, plan))
  checkAllowed(plan, options)
  const secretOf = secretsFrom(terminal, plan)
  if (plan.steps.length > 0 && !options.yes) await confirm(terminal, plan.steps.length)
  const outcomes = await withProgress(terminal, plan.steps.length, (onOutcome, signal) =>
    applyPlan(client, plan, { secretOf, allowUnenrol: options.allowUnenrol === true, onOutcome, signal }),
  )
  report(terminal, plan, outcomes, options)
}

const allowances: Readonly<Record<Allowance, { option: string; what: string }>> = {
  rollout: { option: '--allow-rollout', what: 'change the settings of devices' },
  unenrol: { option: '--allow-unenrol', what: 'unenrol devices' },
}

function checkAllowed({ steps }: OrganisationPlan, { allowRollout, allowUnenrol }: ApplyCommandOptions): void {
  const allowed = { rollout: allowRollout, unenrol: allowUnenrol }
  for (const [need, { option, what }] of Object.entries(allowances) as [Allowance, (typeof allowances)[Allowance]][]) {
    const count = steps.filter(({ needs }) => needs === need).length
    if (count > 0 && !allowed[need]) {
      throw new CommandError(`${count} of the steps ${what}. Add ${option}. Nothing was changed.`)
    }
  }
}

/** All variables must be set before anything is changed. */
function secretsFrom(terminal: Terminal, plan: OrganisationPlan): (name: string) => string {
  const names = secretNamesOf(plan)
  const missing = names.filter((name) => terminal.variable(name) === undefined)
  if (missing.length > 0) {
    throw new CommandError(
      `Set the secrets ${missing.join(', ')} as variables of the environment. Nothing was changed.`,
    )
  }
  return (name) => terminal.variable(name) as string
}

async function confirm(terminal: Terminal, count: number): Promise<void> {
  const changes = count === 1 ? 'this change' : `these ${count} changes`
  if (!terminal.canAsk) throw new CommandError(`Add --yes to make ${changes}. Nothing was changed.`)
  const answer = await terminal.ask(`Make ${changes}? [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('Nothing was changed.')
}

/** Ctrl+C ends the work after the requests that are under way. */
async function withProgress<T>(
  terminal: Terminal,
  total: number,
  work: (onOutcome: () => void, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const stop = new AbortController()
  if (total > 0) void terminal.untilStopped().then(() => stop.abort())
  const progress = new Progress(terminal, 'Changes', total)
  try {
    return await work(() => progress.advance(), stop.signal)
  } finally {
    progress.end()
  }
}

function report(
  terminal: Terminal,
  plan: OrganisationPlan,
  outcomes: readonly StepOutcome[],
  { json }: PlanCommandOptions,
): void {
  const done = outcomes.filter(({ state }) => state === 'done')
  const notDone = outcomes.flatMap((outcome) => (outcome.state === 'done' ? [] : [outcome]))
  const secrets = outcomes.flatMap((outcome) => webhookSecretOf(outcome) ?? [])
  const result = {
    done: done.length,
    notDone: notDone.map(({ step, state, reason }) => ({ step: step.number, path: step.path, state, reason })),
    webhookSecrets: secrets,
    unreadable: plan.unreadable,
  }
  printResult(terminal, json, result, [
    ...secrets.map(({ name, secret }) => `The secret of the webhook ${name} is ${secret}. It is not shown again.`),
    ...(outcomes.length === 0 ? [] : [`${done.length} of ${outcomes.length} steps done.`]),
  ])
  const reasons = [
    ...notDone.map(({ step, reason }) => `${step.number} (${step.path.join(' / ')}): ${reason}`),
    ...plan.unreadable.map(({ message }) => message),
  ].map((line) => line.replaceAll(/\p{Cc}/gu, '?'))
  if (reasons.length === 0) return
  throw new CommandError([...reasons, 'Not everything was done. A repeat does nothing twice.'].join('\n'))
}

function webhookSecretOf(outcome: StepOutcome): { name: string; secret: string } | undefined {
  if (outcome.state !== 'done' || outcome.step.operation !== 'channelsCreate') return undefined
  const { name, secret } = outcome.answer as { name: string; secret?: string }
  return secret === undefined ? undefined : { name, secret }
}
