// Reads the version of the program from package.json.
import { readFileSync } from 'node:fs'

export const programVersion = (): string =>
  JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).version
