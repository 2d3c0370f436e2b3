// `roomkeeper source-devices import`: puts devices of a source into rooms, as a CSV file says.
import type { Client } from '../../client/client.ts'
import { maxSourceDevicesPerRequest } from '../../contract/fleet/sources.ts'
import { answerFile } from '../../csv/answer-file.ts'
import { readCsv } from '../../csv/read-csv.ts'
import { readSourceDevices, type SourceDeviceFate, sourceDeviceSheetColumns } from '../../csv/source-devices.ts'
import { connectToServer } from '../http/connect.ts'
import { CommandError } from '../terminal/command-error.ts'
import { confirmChanges } from '../terminal/confirm.ts'
import { checkOutput, writeOutput } from '../terminal/output-file.ts'
import { printResult, showPlan, type Terminal } from '../terminal/terminal.ts'
import { firstLines, type ImportOptions, readFile, sentencesOf } from './import-file.ts'

export async function sourceDevicesImport(
  terminal: Terminal,
  file: string,
  { source, ...options }: ImportOptions & { readonly source?: string },
): Promise<void> {
  const bytes = readFile(file)
  if (options.output !== undefined) checkOutput(options.output)
  const { client } = connectToServer(terminal, options)
  const id = await sourceIdOf(client, source)
  const { sheet, rows } = await sentencesOf(plan(client, id, bytes))
  const results = new Map<number, string>(rows.map(({ row, fate, notes }) => [row, [fate, ...notes].join(': ')]))
  const writeBack = async () => {
    if (options.output === undefined) return
    await writeOutput(
      options.output,
      answerFile(sheet, ['result'], (row) => ({ result: results.get(row) ?? '' })),
      { isPrivate: true },
    )
  }

  const wrong = rows.filter(({ fate }) => fate === 'wrong')
  if (wrong.length > 0) {
    await writeBack()
    const summary = `Wrong rows: ${wrong.length}. Correct them in the file. Nothing was changed.`
    throw new CommandError([...firstLines(wrong.flatMap(({ notes }) => notes)), summary].join('\n'))
  }
  const changed = rows.filter(({ decision }) => decision !== undefined)
  showPlan(
    terminal,
    changed.map(({ row, key, notes }) => `Row ${row}: ${key}: ${notes.join(' ')}`),
    options,
  )
  if (changed.length > 0 && !options.yes) await confirmChanges(terminal, changed.length)
  const failure = await decide(client, id, changed, results)
  await writeBack()
  const unchanged = rows.length - changed.length
  const done = failure?.done ?? changed.length
  const counts = { changed: done, unchanged, ...(failure && { 'not applied': changed.length - done }) }
  const summary = Object.entries(counts).flatMap(([name, count]) => (count > 0 ? [`${count} ${name}`] : []))
  printResult(terminal, options.json, { counts, rows: rows.map(({ decision: _, ...row }) => row) }, [
    `${summary.join(', ') || 'No rows'}.`,
  ])
  if (failure) throw new CommandError(`${failure.reason} Run the command again: it skips what is done.`)
}

async function plan(client: Client, id: string, bytes: Uint8Array) {
  const sheet = sourceDeviceSheetColumns.sheet(readCsv(bytes, sourceDeviceSheetColumns.has))
  const [{ body: list }, { body: places }, { body: sites }] = await Promise.all([
    client.sourceDevicesList({ id }),
    client.roomsList(),
    client.locationsList(),
  ])
  const locations = new Map(sites.locations.map((location) => [location.id, location]))
  const rooms = places.rooms.map((room) => ({ ...room, location: room.location && locations.get(room.location.id) }))
  return { sheet, rows: readSourceDevices(sheet, { devices: list.devices, rooms }) }
}

/** A request carries out all of its decisions or none, so the rows of a request have one result. */
async function decide(
  client: Client,
  id: string,
  rows: readonly SourceDeviceFate[],
  results: Map<number, string>,
): Promise<{ readonly done: number; readonly reason: string } | undefined> {
  for (let done = 0; done < rows.length; done += maxSourceDevicesPerRequest) {
    const part = rows.slice(done, done + maxSourceDevicesPerRequest)
    try {
      await client.sourceDevicesUpdate({ id, body: { devices: part.flatMap(({ decision }) => decision ?? []) } })
    } catch (error) {
      const { message: reason } = error as Error
      for (const { row } of rows.slice(done)) results.set(row, `not applied: ${reason}`)
      return { done, reason }
    }
  }
  return undefined
}

/** The only source, or the one with this id or name. */
async function sourceIdOf(client: Client, text: string | undefined): Promise<string> {
  const { sources } = (await client.sourcesList()).body
  const found = text === undefined ? sources : sources.filter(({ id, name }) => id === text || name === text)
  if (found[0] && found.length === 1) return found[0].id
  const names = sources.map(({ id, name }) => `${name} (${id})`).join(', ')
  if (sources.length === 0) throw new CommandError('There is no source. Connect one in the console, below Settings.')
  throw new CommandError(
    found.length === 0
      ? `No source is called ${text}. There are ${names}.`
      : `Say which source is meant with --source: ${names}.`,
  )
}
