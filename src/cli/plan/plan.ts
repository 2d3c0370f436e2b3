// `roomkeeper plan`: what `apply` would do.

import { readOrganisation } from '../../apply/read-organisation.ts'
import type { Client } from '../../client/client.ts'
import { makePlan } from '../../plan/make-plan.ts'
import type { OrganisationPlan } from '../../plan/plan.ts'
import { connectToServer } from '../http/connect.ts'
import type { ConnectionOptions } from '../http/connection.ts'
import { CommandError } from '../terminal/command-error.ts'
import { printResult, type Terminal } from '../terminal/terminal.ts'
import { type ReadDocument, readDocument } from './read-file.ts'
import { planJson, planLines, problemLine } from './show-plan.ts'

export interface PlanCommandOptions extends ConnectionOptions {
  readonly prune?: boolean
  readonly setSecrets?: boolean
  readonly json?: boolean
}

/** The exit status of a plan with changes. */
const hasChanges = 2

export async function planCommand(terminal: Terminal, file: string, options: PlanCommandOptions): Promise<void> {
  const read = readDocument(file)
  const plan = await planOf(connectToServer(terminal, options).client, file, read, options)
  printResult(terminal, options.json, planJson(plan), planLines(file, plan))
  if (plan.steps.length === 0) return
  throw new CommandError(`The organisation differs from ${file}.`, { exitCode: hasChanges })
}

/** Throws a `CommandError` with each problem of the document. */
export async function planOf(
  client: Client,
  file: string,
  { document, findPlace }: ReadDocument,
  { prune = false, setSecrets = false }: PlanCommandOptions,
): Promise<OrganisationPlan> {
  const plan = makePlan(document, await readOrganisation(client, document), {
    prune,
    setSecrets,
    findPlace,
    now: Date.now(),
  })
  if (plan.problems.length === 0) return plan
  const lines = plan.problems.map((problem) => problemLine(file, problem))
  throw new CommandError([...lines, 'Nothing was changed.'].join('\n'))
}
