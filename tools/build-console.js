// Builds the console into dist/console, with a compressed copy of each file for the server. npm runs it when it installs a checkout.
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { strictBuild } from './strict-build.js'

const compressible = /\.(html|js|css|svg|json|webmanifest)$/

// Vite keeps an existing NODE_ENV, for example that of a test, but every build must be the one that is shipped.
process.env.NODE_ENV = 'production'

/** Vite is a development dependency: an installation without those cannot build the console. */
const vite = await import('vite').catch(() => undefined)
if (vite) await build(vite, join(import.meta.dirname, '../dist'))
else process.stderr.write('The console is not built: install the development dependencies, then run "npm run build".\n')

/**
 * Builds into a separate folder and replaces the old build when complete, so that a starting server always finds a whole one.
 * @param {typeof import('vite')} vite
 * @param {string} dist
 */
async function build(vite, dist) {
  const outDir = join(dist, `console-${process.pid}`)
  try {
    await strictBuild(vite, { logLevel: process.argv.includes('--quiet') ? 'warn' : 'info', build: { outDir } })
    const names = await readdir(outDir, { recursive: true })
    await Promise.all(names.filter((name) => compressible.test(name)).map((name) => compress(join(outDir, name))))
    await rm(join(dist, 'console'), { recursive: true, force: true })
    await rename(outDir, join(dist, 'console'))
  } finally {
    await rm(outDir, { recursive: true, force: true })
  }
}

/** @param {string} file */
async function compress(file) {
  const content = await readFile(file)
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: content.length }
  await writeFile(`${file}.br`, await promisify(brotliCompress)(content, { params }))
  await writeFile(`${file}.gz`, await promisify(gzip)(content, { level: 9 }))
}
