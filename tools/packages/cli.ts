// Builds the package of the command line over HTTP: one bundle with everything that it imports, for older versions of Node too.
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as vite from 'vite'
import { strictBuild } from '../strict-build.js'
import { packedCommit } from './packed-commit.ts'

const root = join(import.meta.dirname, '../..')
export const cliPackage = 'roomkeeper-cli'
const binFile = `bin/${cliPackage}.js`

/** Writes the package into a folder, ready for `npm pack`. */
export async function buildCliPackage(folder: string): Promise<void> {
  await mkdir(join(folder, 'bin'), { recursive: true })
  await bundle(join(folder, 'dist'))
  await cp(join(import.meta.dirname, `${cliPackage}.js`), join(folder, binFile))
  await cp(join(import.meta.dirname, `${cliPackage}.md`), join(folder, 'README.md'))
  await cp(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  for (const page of ['command-line.md', 'csv.md', 'files.md']) {
    await cp(join(root, 'docs', page), join(folder, 'docs', page))
  }
  const { version, license, type } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const manifest = {
    name: cliPackage,
    version,
    description: 'Command line of Roomkeeper for any machine: it talks to a server over HTTP.',
    license,
    type,
    engines: { node: '>=20' },
    bin: { [cliPackage]: binFile },
    files: ['bin', 'dist', 'docs'],
    commit: await packedCommit(),
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
}

const bundle = (folder: string): Promise<void> =>
  strictBuild(vite, {
    configFile: false,
    root,
    publicDir: false,
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      ssr: true,
      target: 'node20',
      outDir: folder,
      emptyOutDir: true,
      // Readable code: a stack trace leads to a line with names.
      minify: false,
      license: { fileName: 'licenses.md' },
      rolldownOptions: {
        input: { main: join(root, 'src/cli/remote/main.ts') },
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  })
