// Compiles the program into about 80 files of JavaScript, for a package: Node runs no TypeScript below node_modules.
import { join } from 'node:path'
import * as vite from 'vite'
import { strictBuild } from '../strict-build.js'

const root = join(import.meta.dirname, '../..')

/**
 * These two packages have 630 small files, which would take a third of each start to load, so their code goes into ours. They
 * stay dependencies of the package, so that `npm audit` and `npm sbom` know them.
 */
const compiledPackages = ['kysely', 'typebox']

/** The package of the gateway has the commands for the site of the rooms only, and so neither a server nor a database. */
const siteProgramOnly: vite.Plugin = {
  name: 'site-program-only',
  load: (file) =>
    file === join(root, 'src/cli/program.ts')
      ? `export { siteProgram as program } from './site-commands.ts'`
      : undefined,
}

/** Writes main.js, health-thread.js (the thread of the health port), mcp-thread.js (the thread of tools), system-process.js (the process of `roomkeeper computer`), the parts that they load, and the licences of other packages. */
export async function compileProgram(folder: string, part: 'all' | 'site' = 'all'): Promise<void> {
  await strictBuild(vite, {
    configFile: false,
    root,
    publicDir: false,
    logLevel: 'warn',
    plugins: part === 'site' ? [siteProgramOnly] : [],
    ssr: { noExternal: compiledPackages },
    build: {
      ssr: true,
      target: 'node24',
      outDir: folder,
      emptyOutDir: true,
      // Readable code: a stack trace leads to a line with names.
      minify: false,
      license: { fileName: 'licenses.md' },
      rolldownOptions: {
        input: {
          main: join(root, 'src/main.ts'),
          ...(part === 'all' && {
            'health-thread': join(root, 'src/server/http/health/thread.ts'),
            'mcp-thread': join(root, 'src/server/http/mcp/thread.ts'),
          }),
          'system-process': join(root, 'src/computer/system/process.ts'),
        },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  })
}
