// Takes the notes of a release from CHANGELOG.md, and writes the checksums of its files.
import { createHash } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** Returns the section of a version, with a title, and without links to files of the project: the notes are read elsewhere. */
export async function releaseNotes(version: string, commit: string | undefined): Promise<string> {
  const changelog = await readFile(join(root, 'CHANGELOG.md'), 'utf8')
  const [, section] = changelog.split(new RegExp(`^## ${version.replaceAll('.', '\\.')}(?:,.*)?$`, 'm'))
  if (section === undefined) throw new Error(`CHANGELOG.md has no section for version ${version}.`)
  const [notes = ''] = section.split(/^## /m)
  const made = commit === undefined ? '' : `Made of commit ${commit}. `
  const check = 'Check the files with `sha256sum --check SHA256SUMS`.'
  return `# Roomkeeper ${version}\n\n${made}${check}\n${notes.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, '$1').trimEnd()}\n`
}

/** Writes SHA256SUMS, for `sha256sum --check`, over all files of the folder. */
export async function writeChecksums(folder: string): Promise<string> {
  const file = join(folder, 'SHA256SUMS')
  const names = (await readdir(folder)).sort()
  const lines = names.map(async (name) => {
    const content = await readFile(join(folder, name))
    return `${createHash('sha256').update(content).digest('hex')}  ${name}\n`
  })
  await writeFile(file, (await Promise.all(lines)).join(''))
  return file
}
