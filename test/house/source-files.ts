// The source files of a folder with what they import, for the tests about the structure of the code.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { domains } from '../../tools/domain-tests.ts'

export interface SourceFile {
  readonly path: string
  readonly text: string
  /** Files of the same folder that this one imports, types included. */
  readonly imports: readonly string[]
}

/** Lists the TypeScript files below a folder of the project; paths are relative to that folder. Tests are left out. */
export function sourceFiles(folder: 'src' | 'bench' | 'test' | 'tools'): SourceFile[] {
  const root = join(import.meta.dirname, '../..', folder)
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('.test.ts'))
    .map((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      const imports = [...text.matchAll(/^(?:(?:import|export)\b[^'"]*?from|import) '(\.[^']+)'/gms)].map((m) =>
        relative(root, join(dirname(join(root, path)), m[1] as string)),
      )
      return { path, text, imports }
    })
}

/** The folders of src/cli that know no server and no database: the package roomkeeper-cli is made of them. */
const commandLineFolders = ['api', 'context', 'csv', 'http', 'mcp', 'plan', 'remote', 'terminal']

/**
 * The folder that a direction is about: below src/server its second folder, elsewhere its first. Some folders of src/cli have directions of
 * their own.
 */
export function areaOf(path: string): string {
  const [first, second = ''] = path.split('/')
  if (first === 'cli' && commandLineFolders.includes(second)) return `cli/${second}`
  if (first !== 'server') return first as string
  return path.split('/').length > 2 ? `server/${second}` : path
}

/** The domain of a file of the server, such as `fleet`; undefined if it is in none. */
export const domainOf = (path: string) => domains.find((domain) => areaOf(path) === `server/${domain}`)
