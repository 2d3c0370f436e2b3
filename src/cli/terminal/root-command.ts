// The command "roomkeeper" itself, whichever commands are below it.
import { Command } from 'commander'
import type { Terminal } from './terminal.ts'

/** Has no commands yet. */
export const rootCommand = (terminal: Terminal, name = 'roomkeeper'): Command =>
  new Command(name)
    .version(terminal.version, '--version', 'print the version and the commit')
    .configureOutput({
      writeOut: (text) => terminal.write(text.trimEnd()),
      writeErr: (text) => terminal.writeError(text.trimEnd()),
      outputError: (text, write) => write(oneSentence(text)),
    })
    .exitOverride()

/** Turns "error: unknown option '--prot'\n(Did you mean --port?)" into one sentence. */
function oneSentence(text: string): string {
  const message = text
    .replace(/^error: /, '')
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
    .replace(/\.$/, '')
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}. Use --help to see all options.`
}
