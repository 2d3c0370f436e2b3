// Finds the branches on the engine in the program, and adds calls that note which of them were taken on which engine.

const comparison = /((?:[\w#]+\.)*engine) (?:===|!==) '(?:sqlite|postgres)'/g

/** Migrations run on both engines before every other test, so they are left out. */
const isObserved = (path: string) =>
  path.includes('/src/server/') && path.endsWith('.ts') && !/\.test\.ts$|\/db\/migrations\//.test(path)

/** Adds to each comparison of an engine's name a call that notes it. Lines stay where they are. */
function replaceComparisons(path: string, text: string, replace: (engine: string, name: string) => string): string {
  const file = path.slice(path.indexOf('/src/server/') + '/src/server/'.length)
  return text
    .split('\n')
    .map((line, i) => {
      let count = 0
      return line.replace(comparison, (whole, engine: string) => {
        const name = `branch on the engine in ${file}:${i + 1}${++count === 1 ? '' : ` (${count})`}`
        return replace(engine, name) + whole.slice(engine.length)
      })
    })
    .join('\n')
}

export function engineBranchesIn(path: string, text: string): string[] {
  const names: string[] = []
  if (!isObserved(path)) return names
  replaceComparisons(path, text, (engine, name) => {
    names.push(name)
    return engine
  })
  return names
}

/** statement-log.ts sets the function in the workers of Vitest. In a process without it nothing is noted. */
const note = '(globalThis.noteEngineBranch ??= (_, engine) => engine)'

/** The text of a module, in which each branch on the engine notes that it was taken. */
export function noteEngineBranches(path: string, text: string): string {
  if (!isObserved(path) || !text.includes('engine')) return text
  return replaceComparisons(path, text, (engine, name) => `${note}('${name}', ${engine})`)
}
