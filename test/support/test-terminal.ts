// A terminal for commands that run in the process of a test: questions are errors, and the environment is empty, unless a test says otherwise.
import type { Terminal } from '../../src/cli/terminal/terminal.ts'

/** The folder for settings does not exist, and cannot be made. */
export const testTerminal = (own: Partial<Terminal> = {}): Terminal => ({
  version: '',
  program: ['node', 'roomkeeper.js'],
  isInteractive: false,
  canAsk: false,
  write: () => {},
  writeRaw: async () => {},
  writeError: () => {},
  showProgress: () => {},
  readInput: async function* () {},
  ask: async (question) => {
    throw new Error(`the command asked ${question}`)
  },
  variable: () => undefined,
  configFolder: '/dev/null/settings',
  untilStopped: async () => '',
  onHangup: () => {},
  onUncaughtError: () => {},
  certificateVariables: {},
  user: () => 'test',
  exitWithFailure: () => {
    throw new Error('the command wanted to end its process')
  },
  ...own,
})
