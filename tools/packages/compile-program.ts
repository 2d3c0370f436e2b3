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

/** Writes main.js, health-thread.js (the thread of the health port), system-process.js (the process of `roomkeeper computer`), the parts that they load, and the licences of other packages. */
export async function compileProgram(folder: string): Promise<void> {
  await strictBuild(vite, {
    configFile: false,
    root,
    publicDir: false,
    logLevel: 'warn',
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
          'health-thread': join(root, 'src/server/http/health/thread.ts'),
          'system-process': join(root, 'src/computer/system/process.ts'),
        },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  })
}
