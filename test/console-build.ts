// Before the tests: the console is built from the sources as they are, and a real browser is there.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { need } from './debian.ts'

let isReady = false

/** Every project of a run asks; the first does the work. */
export default function setup(): void {
  if (isReady) return
  isReady = true
  need('chromium', 'chromium')
  const build = join(import.meta.dirname, '../tools/build-console.js')
  execFileSync(process.execPath, [build, '--quiet'], { stdio: ['ignore', 'inherit', 'inherit'] })
}
