// Makes a second build of the console out of the first: the same files, every one with another hash in its name.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtConsoleFolder } from '../../../src/server/core/program-files.ts'

/** Building again takes ten times as long as renaming. Returns the folder of the new build; the caller deletes it. */
export function makeOtherBuild(): string {
  const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-console-'))
  cpSync(builtConsoleFolder, folder, { recursive: true })
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  for (const name of names) if (/\.(br|gz)$/.test(name)) rmSync(join(folder, name))
  const assets = readdirSync(join(folder, 'assets'))
  const renamed = new Map(assets.map((name) => [name, name.replace(/-([\w-]{8})\.(\w+)$/, '-$1Z.$2')]))
  for (const path of ['index.html', ...assets.map((name) => join('assets', name))]) {
    const file = join(folder, path)
    if (/\.(html|js|css)$/.test(path)) writeFileSync(file, replaceNames(readFileSync(file, 'utf8'), renamed))
  }
  for (const [name, other] of renamed) {
    if (name === other) continue
    cpSync(join(folder, 'assets', name), join(folder, 'assets', other))
    rmSync(join(folder, 'assets', name))
  }
  return folder
}

const replaceNames = (text: string, renamed: ReadonlyMap<string, string>): string =>
  text.replaceAll(/[\w-]+-[\w-]{8}\.\w+/g, (name) => renamed.get(name) ?? name)
