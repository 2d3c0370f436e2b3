// The options of `roomkeeper demo`: those of the server that have a default, and a folder of its own.
import { type OptionSpec, serveOptions } from '../server/config/options.ts'

/** A folder of its own, whatever the variables of a real server say; and a log for trouble only. */
export const demoOptions: readonly OptionSpec[] = [
  {
    flag: '--data-dir <folder>',
    env: 'ROOMKEEPER_DEMO_DIR',
    default: './demo-data',
    help: 'where it keeps everything; delete the folder to start afresh',
  },
  ...serveOptions
    .filter(({ flag, default: byDefault }) => byDefault !== undefined && !flag.startsWith('--data-dir'))
    .map((option) => (option.flag.startsWith('--log-level') ? { ...option, default: 'warn' } : option)),
]
