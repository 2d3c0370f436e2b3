// The options of `roomkeeper demo`: the server options that have a default, with a separate data folder.
import { type OptionSpec, serveOptions } from '../server/config/options.ts'

/** The data folder ignores the variables of a real server, and only warnings are logged. */
export const demoOptions: readonly OptionSpec[] = [
  {
    flag: '--data-dir <folder>',
    env: 'ROOMKEEPER_DEMO_DIR',
    default: './demo-data',
    help: 'folder for all data of the demo; delete it to start again',
  },
  ...serveOptions
    .filter(({ flag, default: byDefault }) => byDefault !== undefined && !flag.startsWith('--data-dir'))
    .map((option) => (option.flag.startsWith('--log-level') ? { ...option, default: 'warn' } : option)),
]
