// `npm run check`: format, lint and types, at the same time: each alone leaves a core idle for most of its time.
import { spawn } from 'node:child_process'

const commands = [
  ['biome', 'ci', '--error-on-warnings', '.'],
  ['tsc', '-b', '.', 'src/console', '--force', '--builders', '2', '--checkers', '1'],
] as const

/** Returns the exit code. npm has put the programs of the checkout into PATH. */
const run = ([program, ...args]: (typeof commands)[number]) =>
  new Promise<number | null>((resolve, reject) => {
    spawn(program, args, { stdio: 'inherit' }).once('error', reject).once('close', resolve)
  })

const codes = await Promise.all(commands.map(run))
process.exit(codes.every((code) => code === 0) ? 0 : 1)
