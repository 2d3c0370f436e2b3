// Builds what the tests run, before they start: the console, and the program as it is in a package. Checks that a browser is
// installed: chromium-headless-shell, which uses less CPU than the full Chromium.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, statSync } from 'node:fs'
import { cp, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { builtConsoleFolder } from '../../../src/server/core/program-files.ts'
import { compileProgram } from '../../../tools/packages/compile-program.ts'
import { packedCommit } from '../../../tools/packages/packed-commit.ts'
import { need } from '../debian.ts'
import { compileCacheFolder, testProgramFolder } from '../program.ts'

const root = join(import.meta.dirname, '../../..')
let isReady = false

/** Every project of a run calls this; only the first call builds. */
export default async function setup(): Promise<void> {
  if (isReady) return
  isReady = true
  // Workers inherit it, and programs that they start from their sources: these load in half of the time.
  process.env.NODE_COMPILE_CACHE ??= compileCacheFolder
  need('chromium-headless-shell')
  if (!isConsoleBuilt()) {
    const tool = join(root, 'tools/build-console.js')
    execFileSync(process.execPath, [tool, '--quiet'], { stdio: ['ignore', 'inherit', 'inherit'] })
  }
  await buildTestProgram(`${testProgramFolder}-${process.pid}`)
}

/** In a fresh checkout `npm ci` has just built the console, which takes 7 s of CPU. */
function isConsoleBuilt(): boolean {
  const built = join(builtConsoleFolder, 'index.html')
  if (!existsSync(built)) return false
  const { mtimeMs } = statSync(built)
  const sources = globSync(['src/{console,contract,client}/**', 'tools/*', 'vite.config.ts', 'package-lock.json'], {
    cwd: root,
  })
  return sources.every((name) => statSync(join(root, name)).mtimeMs < mtimeMs)
}

/** A package without its documents, which finds its dependencies in the checkout. */
async function buildTestProgram(folder: string): Promise<void> {
  try {
    await mkdir(join(folder, 'dist'), { recursive: true })
    await compileProgram(join(folder, 'dist/program'))
    await cp(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
    const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
    const commit = await packedCommit()
    await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, commit }))
    await symlink(join(root, 'dist/console'), join(folder, 'dist/console'))
    await rm(testProgramFolder, { recursive: true, force: true })
    await rename(folder, testProgramFolder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
