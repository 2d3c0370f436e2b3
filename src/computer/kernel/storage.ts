// Sorts file systems into three groups: the system itself, other disks in the machine, removable disks.
import { basename, dirname, join } from 'node:path'
import { linkTarget, readText } from './files.ts'

export interface FileSystem {
  /** The device, such as /dev/sda1. */
  readonly fs: string
  readonly size: number
  readonly available: number
  readonly mount: string
}

const fieldsOf = { system: 'SystemStorage', internal: 'InternalStorage', external: 'ExternalStorage' } as const
type Group = keyof typeof fieldsOf

/** Fields of a status report: bytes, as strings. A field without a disk is null. */
export async function readStorage(
  root: string,
  fileSystems: readonly FileSystem[],
): Promise<Record<string, string | null>> {
  const sums: Record<Group, { total: number; free: number } | undefined> = {
    system: undefined,
    internal: undefined,
    external: undefined,
  }
  for (const { fs, size, available, mount } of fileSystems) {
    if (mount !== '/' && !fs.startsWith('/dev/')) continue
    const group = mount === '/' ? 'system' : (await isRemovable(root, fs)) ? 'external' : 'internal'
    const before = sums[group] ?? { total: 0, free: 0 }
    sums[group] = { total: before.total + size, free: before.free + available }
  }
  return Object.fromEntries(
    Object.entries(fieldsOf).flatMap(([group, field]) => {
      const sum = sums[group as Group]
      return [
        [`total${field}`, sum ? String(sum.total) : null],
        [`free${field}`, sum ? String(sum.free) : null],
      ]
    }),
  )
}

/** A partition is in the folder of its disk. Disks behind USB say that they stay, but can be pulled out too. */
async function isRemovable(root: string, device: string): Promise<boolean> {
  const folder = await linkTarget(join(root, 'sys/class/block', basename(device)))
  if (folder === undefined) return false
  const flag = (await readText(join(folder, 'removable'))) ?? (await readText(join(dirname(folder), 'removable')))
  return flag === '1' || /\/usb\d+\//.test(folder)
}
