// Data folders with a house in them, filled once for all benches of a run: each bench gets copies of its own.
import { constants, cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Ending } from './ending.ts'
import { withGround } from './fill.ts'
import { fillHouse, type House } from './house.ts'
import type { Housed } from './house-server.ts'
import { startServer } from './server.ts'

export interface Filled extends Housed {
  readonly house: House
}

const made = new Map<number, Promise<Filled>>()
/** It is never run: what was filled goes away when the process ends. */
const whole = new Ending()
let originals: string | undefined

/** A folder with so many endpoints; with none, it is what a first start leaves. */
export async function filledFolder(ending: Ending, endpoints: number): Promise<Filled> {
  return copyOf(await filled(endpoints), ending.folder())
}

function filled(endpoints: number): Promise<Filled> {
  let filling = made.get(endpoints)
  if (!filling) {
    originals ??= whole.folder()
    const dataDir = join(originals, `${endpoints}`)
    filling = endpoints === 0 ? firstStart(dataDir) : fill(dataDir, endpoints)
    made.set(endpoints, filling)
  }
  return filling
}

async function firstStart(dataDir: string): Promise<Filled> {
  mkdirSync(dataDir)
  const { child, org, key } = await startServer(dataDir)
  await child.stop()
  const house = await withGround(dataDir, (ground) => fillHouse(ground, 0))
  return { dataDir, org, key, devices: [], house }
}

async function fill(dataDir: string, endpoints: number): Promise<Filled> {
  const copy = copyOf(await filled(0), dataDir)
  const house = await withGround(dataDir, (ground) => fillHouse(ground, endpoints))
  return { ...copy, devices: house.devices, house }
}

function copyOf(from: Filled, dataDir: string): Filled {
  cpSync(from.dataDir, dataDir, { recursive: true, mode: constants.COPYFILE_FICLONE })
  return { ...from, dataDir }
}
