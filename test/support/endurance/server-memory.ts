// Reads the memory and the open files of a server from its metrics.
import { send } from '../harness.ts'

export const mebibyte = 1024 * 1024

export const residentBytes = (url: string): Promise<number> => metric(url, 'process_resident_memory_bytes')

export const openFiles = (url: string): Promise<number> => metric(url, 'process_open_fds')

async function metric(url: string, name: string): Promise<number> {
  const { text } = await send(url, 'GET', '/metrics')
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
}

export const inMebibytes = (bytes: number): string => `${Math.round(bytes / mebibyte)} MiB`
