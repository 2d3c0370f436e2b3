// Reads the file of --config: the names of the environment variables, one NAME=value for each line.
import { readFileSync } from 'node:fs'
import { StartupError } from '../core/failure.ts'

/** Two names are taken for a typing error of each other up to this many changed characters. */
const maxTypingErrors = 4

/** Returns the settings of the file. Anything that is not a setting is refused, so that a typing error does not go unnoticed. */
export function readConfigFile(file: string, knownNames: readonly string[]): ReadonlyMap<string, string> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new StartupError(
      `Cannot read the config file ${file} (${(error as NodeJS.ErrnoException).code}). Check --config (or ROOMKEEPER_CONFIG).`,
    )
  }
  const settings = new Map<string, string>()
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (/^\s*(#|$)/.test(line)) continue
    const refuse = (why: string) => new StartupError(`${file}, line ${index + 1}: ${why}`)
    // The value may be a secret, so errors do not repeat it.
    const [, name, value] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? []
    if (name === undefined || value === undefined)
      throw refuse('write NAME=value, or begin the line with # for a comment.')
    if (!knownNames.includes(name)) throw refuse(`${name} is not a setting. ${suggestionFor(name, knownNames)}`)
    if (settings.has(name)) throw refuse(`${name} is there twice. Remove one of the two lines.`)
    settings.set(name, value.replace(/^(["'])(.*)\1$/, '$2'))
  }
  return settings
}

function suggestionFor(name: string, knownNames: readonly string[]): string {
  const upper = name.toUpperCase()
  const withPrefix = upper.startsWith('ROOMKEEPER_') ? upper : `ROOMKEEPER_${upper}`
  const ranked = knownNames.map((known) => ({ known, errors: editDistance(withPrefix, known) }))
  const nearest = ranked.toSorted((a, b) => a.errors - b.errors)[0]
  return nearest && nearest.errors <= maxTypingErrors
    ? `The nearest setting is ${nearest.known}.`
    : 'The settings are the environment variables that "roomkeeper serve --help" lists.'
}

/** The number of characters to insert, delete or replace that turn one text into the other (Levenshtein). */
function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min(replaced, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[b.length] ?? 0
}
