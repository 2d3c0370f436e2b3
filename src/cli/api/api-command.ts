// `roomkeeper api`: a command for every operation of the interface, derived from the table of operations.
import type { Command } from 'commander'
import { tags } from '../../contract/openapi.ts'
import { operationList } from '../../contract/operations.ts'
import { rootCommand } from '../terminal/root-command.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { commandNameOf } from './command-name.ts'
import { hasSecretField, inputOf } from './input.ts'
import { addOptions, type Field } from './operation-options.ts'
import { runOperation } from './run-operation.ts'

type Listed = (typeof operationList)[number]

/** Runs `PROGRAM api …WORDS`. The table of operations is loaded for this command only, so `api` has no commands of its own before. */
export async function apiCommand(terminal: Terminal, program: string, words: readonly string[]): Promise<void> {
  await apiProgram(terminal, program).parseAsync(['api', ...words], { from: 'user' })
}

export function apiProgram(terminal: Terminal, program: string): Command {
  const root = rootCommand(terminal, program)
  const api = root
    .command('api')
    .description(
      'Call an operation of the interface: api NOUN VERB. The operations are described in the document that "openapi" prints.',
    )
  for (const operation of operationList) {
    const { noun, verb } = commandNameOf(operation)
    const parent = api.commands.find((command) => command.name() === noun) ?? addNoun(api, noun, operation)
    addVerb(parent, verb, operation, terminal)
  }
  return root
}

/** The first noun of a tag has its description, and a further noun the summary of its first operation. */
function addNoun(api: Command, noun: string, { tag, summary }: Listed): Command {
  const isFirst = api.commands.every((command) => command.description() !== tags[tag])
  return api
    .command(noun)
    .description(isFirst ? tags[tag] : `${summary}.`)
    .helpCommand(false)
}

function addVerb(parent: Command, verb: string, operation: Listed, terminal: Terminal): void {
  const command = parent.command(verb).summary(operation.summary)
  const fields = addOptions(command, operation)
  command
    .description(descriptionOf(operation))
    .addHelpText('after', notesOf(operation, fields))
    .action(async () =>
      runOperation(terminal, operation, await inputOf(terminal, operation, fields, command), command.opts()),
    )
}

const descriptionOf = ({ summary, description }: Listed): string =>
  description === undefined ? `${summary}.` : `${summary}. ${description}`

function notesOf(operation: Listed, fields: readonly Field[]): string {
  const { id, method, path, scope, body, person } = operation
  return [
    '',
    body && 'The body consists of the options above that are its keys, or comes from --file.',
    hasSecretField(fields) &&
      'The value env:NAME of a secret is that of the variable NAME, which other users of the machine cannot see.',
    person && 'Only for people who are signed in to the console: the server refuses API keys.',
    `${id}: ${method} /v1/orgs/{orgid}${path}, with the scope ${operation.operate ? 'operate' : scope}.`,
  ]
    .filter((line) => line === '' || line)
    .join('\n')
}
