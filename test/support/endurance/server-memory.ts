// Reads the memory of a server from its metrics.
import { send } from '../harness.ts'

export const mebibyte = 1024 * 1024

export async function residentBytes(url: string): Promise<number> {
  const { text } = await send(url, 'GET', '/metrics')
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1])
}

export const inMebibytes = (bytes: number): string => `${Math.round(bytes / mebibyte)} MiB`
