// Defines the commands about the document of an organisation: export, plan, apply, and the schema of the document.
import type { Command } from 'commander'
import { addConnectionOptions } from '../http/connection.ts'
import type { Terminal } from '../terminal/terminal.ts'

export function addPlanCommands(root: Command, terminal: Terminal): void {
  const add = (name: string, description: string) => addConnectionOptions(root.command(name).description(description))
  add('export', 'write the organisation as a document, which "plan" and "apply" take')
    .option('--output <file>', 'write to a file instead of standard output; a name that ends with .json makes JSON')
    .option('--json', 'write JSON instead of YAML')
    .action(async (options) => (await import('./export.ts')).exportCommand(terminal, options))
  const withFile = (name: string, description: string) =>
    add(name, description)
      .argument('<file>', 'the document, YAML or JSON')
      .option('--prune', 'delete what the sections of the document leave out')
      .option('--set-secrets', 'send the secrets of things that exist, too')
      .option('--json', 'print JSON')
  withFile('plan', 'compare a document with the organisation; exit status 2 if they differ').action(
    async (file, options) => (await import('./plan.ts')).planCommand(terminal, file, options),
  )
  withFile('apply', 'make the organisation what a document says, after showing the plan')
    .option('--allow-rollout', 'let profiles change the settings of the endpoints that have them')
    .option('--allow-unenrol', 'let deletions of rooms and gateway devices unenrol the devices')
    .option('--yes', 'do not ask before the changes')
    .action(async (file, options) => (await import('./apply.ts')).applyCommand(terminal, file, options))
  root
    .command('document-schema')
    .description('print the JSON Schema of the document, for editors')
    .action(async () => (await import('./export.ts')).schemaCommand(terminal))
}
