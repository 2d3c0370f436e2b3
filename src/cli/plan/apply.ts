// `roomkeeper apply`: shows the plan, asks, and carries it out.
import { applyPlan, type StepOutcome } from '../../apply/apply-plan.ts'
import { secretNamesOf } from '../../apply/secrets.ts'
import { groupBy } from '../../contract/group-by.ts'
import type { Allowance, OrganisationPlan } from '../../plan/plan.ts'
import { connectToServer } from '../http/connect.ts'
import { CommandError } from '../terminal/command-error.ts'
import { confirmChanges } from '../terminal/confirm.ts'
import { withProgress } from '../terminal/progress.ts'
import { printResult, showPlan, type Terminal } from '../terminal/terminal.ts'
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
  const { client, clientUntil } = connectToServer(terminal, options)
  const plan = await planOf(client, file, read, options)
  showPlan(terminal, planLines(file, plan), options)
  checkAllowed(plan, options)
  const secretOf = secretsFrom(terminal, plan)
  if (plan.steps.length > 0 && !options.yes) await confirmChanges(terminal, plan.steps.length)
  const outcomes = await withProgress(terminal, { title: 'Changes', total: plan.steps.length }, (onOutcome, signal) =>
    applyPlan(clientUntil(signal), plan, { secretOf, onOutcome, signal }),
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
      throw new CommandError(`Steps that ${what}: ${count}. Add ${option}. Nothing was changed.`)
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

function report(
  terminal: Terminal,
  plan: OrganisationPlan,
  outcomes: readonly StepOutcome[],
  { json }: PlanCommandOptions,
): void {
  const done = outcomes.filter(({ state }) => state === 'done')
  const notDone = outcomes.flatMap((outcome) => (outcome.state === 'done' ? [] : [outcome]))
  const webhooks = outcomes.flatMap((outcome) => madeWebhook(outcome) ?? [])
  const secrets = webhooks.flatMap(({ name, secret }) => (secret === undefined ? [] : [{ name, secret }]))
  const result = {
    done: done.length,
    notDone: notDone.map(({ step, state, reason }) => ({ step: step.number, path: step.path, state, reason })),
    webhookSecrets: secrets,
    unreadable: plan.unreadable,
  }
  printResult(terminal, json, result, [
    ...webhooks.map(webhookLine),
    ...(outcomes.length === 0 ? [] : [`${done.length} of ${outcomes.length} steps done.`]),
  ])
  const reasons = [...reasonLines(notDone), ...plan.unreadable.map(({ message }) => message)]
  if (reasons.length === 0) return
  throw new CommandError([...reasons, `Not everything was done. ${whatToDo(notDone, plan)}`].join('\n'))
}

/** An interruption, or an error of the network, stops all steps that are left with one reason. */
const maxLinesOfReason = 3

function reasonLines(notDone: readonly Exclude<StepOutcome, { state: 'done' }>[]): string[] {
  const named = ({ step }: StepOutcome) => `${step.number} (${step.path.join(' / ')})`
  return [...groupBy(notDone, ({ reason }) => reason)].flatMap(([reason, group]) =>
    group.length <= maxLinesOfReason
      ? group.map((outcome) => `${named(outcome)}: ${reason}`)
      : [`${named(group[0] as StepOutcome)} and ${group.length - 1} more: ${reason}`],
  )
}

/** Another attempt helps only if something else than the rights of the key was in the way. */
function whatToDo(notDone: readonly StepOutcome[], { steps }: OrganisationPlan): string {
  const forbidden = new Set<number>()
  for (const { number, forbidden: why, dependsOn } of steps) {
    if (why !== undefined || dependsOn.some((needed) => forbidden.has(needed))) forbidden.add(number)
  }
  return notDone.every(({ step }) => forbidden.has(step.number))
    ? 'The rest needs a key with more rights.'
    : 'Run the command again: it skips what is done.'
}

interface MadeWebhook {
  readonly name: string
  /** Absent if an interrupted run made the webhook: only the answer to that run showed the secret. */
  readonly secret?: string
}

function madeWebhook(outcome: StepOutcome): MadeWebhook | undefined {
  if (outcome.state !== 'done' || outcome.step.operation !== 'channelsCreate') return undefined
  const { kind, ...webhook } = outcome.answer as MadeWebhook & { readonly kind: string }
  return kind === 'webhook' ? webhook : undefined
}

const webhookLine = ({ name, secret }: MadeWebhook): string =>
  secret === undefined
    ? `An interrupted run made the webhook ${name}, and its secret was not shown. Rotate the secret to see a new one.`
    : `The secret of the webhook ${name} is ${secret}. It is not shown again.`
