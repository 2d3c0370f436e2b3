// Asks a person before something is changed.
import { CommandError } from './command-error.ts'
import type { Terminal } from './terminal.ts'

/** Throws a `CommandError` unless the answer is yes. */
export async function confirm(terminal: Terminal, question: string): Promise<void> {
  const answer = await terminal.ask(`${question} [y/N] `)
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError('Nothing was changed.')
}

/** Asks a person at the terminal. A script has none, and gives --yes. */
export async function confirmChanges(terminal: Terminal, count: number): Promise<void> {
  const changes = count === 1 ? 'this change' : `these ${count} changes`
  if (!terminal.canAsk) throw new CommandError(`Add --yes to make ${changes}. Nothing was changed.`)
  await confirm(terminal, `Make ${changes}?`)
}
