// Files beside the program's code. In a checkout the code is src/, in an installed package it is compiled into dist/program/.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder of the checkout or of the installed package. */
const root = nearestPackage(import.meta.dirname)

export const programFile = join(root, 'bin/roomkeeper.js')
/** The folder that `npm run build` writes to. */
export const builtConsoleFolder = join(root, 'dist/console')

export const programVersion = (): string => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version

function nearestPackage(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : nearestPackage(dirname(folder))
}
