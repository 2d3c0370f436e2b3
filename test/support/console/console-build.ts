// Builds the console before the tests, and checks that a browser is installed: chromium-headless-shell, which uses less CPU than the full Chromium.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { need } from '../debian.ts'

let isReady = false

/** Every project of a run calls this; only the first call builds. */
export default function setup(): void {
  if (isReady) return
  isReady = true
  need('chromium-headless-shell', 'chromium-headless-shell')
  const build = join(import.meta.dirname, '../../../tools/build-console.js')
  execFileSync(process.execPath, [build, '--quiet'], { stdio: ['ignore', 'inherit', 'inherit'] })
}
