// Programs that the tests need: found on the machine, or installed if we are root on Debian; otherwise the error names the package.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Returns the path of a program, or undefined if it is not installed. */
export const programPath = (program: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(':')
    .map((folder) => join(folder, program))
    .find((file) => existsSync(file))

/** Makes sure that a program is there. */
export function need(program: string, debianPackage: string): void {
  if (programPath(program)) return
  const advice = `${program} is needed: install it (Debian: apt-get install ${debianPackage}).`
  installDebian(advice, [debianPackage])
  if (!programPath(program)) throw new Error(advice)
}

/** Installs Debian packages one after the other; `between` runs before each. */
export function installDebian(advice: string, packages: readonly string[], between = (_: string) => {}): void {
  if (process.getuid?.() !== 0 || !existsSync('/etc/debian_version')) throw new Error(advice)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  // Test files run side by side, and apt-get refuses to start while another one runs.
  const lock = join(tmpdir(), 'roomkeeper-apt.lock')
  const apt = (...args: string[]) =>
    execFileSync('flock', [lock, 'apt-get', '-qq', ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    apt('update')
    for (const name of packages) {
      between(name)
      apt('install', '-y', '--no-install-recommends', name)
    }
  } catch (error) {
    throw new Error(`${advice} (Installing it failed: ${(error as Error).message})`)
  }
}
