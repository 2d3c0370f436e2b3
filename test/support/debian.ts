// Programs that the tests need: found on the machine, or installed if we are root on Debian; otherwise the error names the package.
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** Debian's package keeps it outside of PATH, for Debian's own Python. */
export const pahoClient = '/usr/lib/python3/dist-packages/paho/mqtt/client.py'

/** Settings of the package that PostgreSQL's own package needs: whether it makes a cluster when it is installed. */
export const postgresClusterSettings = '/etc/postgresql-common/createcluster.conf'

/** The packages of Debian, by the program or the file that the tests need. */
const packagesOfTests = {
  'chromium-headless-shell': 'chromium-headless-shell',
  curl: 'curl',
  haproxy: 'haproxy',
  jq: 'jq',
  mosquitto: 'mosquitto',
  mosquitto_pub: 'mosquitto-clients',
  nginx: 'nginx-light',
  openssl: 'openssl',
  [pahoClient]: 'python3-paho-mqtt',
  pgbouncer: 'pgbouncer',
  [postgresClusterSettings]: 'postgresql-common',
  prometheus: 'prometheus',
  promtool: 'prometheus',
  python3: 'python3',
  script: 'bsdutils',
  snmpd: 'snmpd',
  snmpsimd: 'snmpsim',
  strace: 'strace',
  'systemd-analyze': 'systemd',
} as const

const packagesOfBenches = { 'nats-server': 'nats-server' } as const

const packages: Readonly<Record<string, string>> = { ...packagesOfTests, ...packagesOfBenches }
type Needed = keyof typeof packagesOfTests | keyof typeof packagesOfBenches

/** Returns the path of a program, or undefined if it is not installed. */
export const programPath = (program: string): string | undefined =>
  (process.env.PATH ?? '')
    .split(':')
    .map((folder) => join(folder, program))
    .find((file) => existsSync(file))

const isInstalled = (needed: string) => (isAbsolute(needed) ? existsSync(needed) : programPath(needed) !== undefined)

/** Makes sure that programs or files are there. */
export function need(...needed: readonly Needed[]): void {
  const missing = needed.filter((one) => !isInstalled(one))
  if (missing.length === 0) return
  const names = missing.map((one) => packages[one] ?? one)
  const advice = `The tests need ${missing.join(' and ')}: install it (Debian: apt-get install ${names.join(' ')}).`
  installDebian(advice, names)
  if (!missing.every(isInstalled)) throw new Error(advice)
}

export const canInstall = (): boolean => process.getuid?.() === 0 && existsSync('/etc/debian_version')

/**
 * Installs everything that is missing at once, for a run of all tests. Otherwise each suite installs its own package, which takes about
 * five seconds each, while others wait.
 */
export const installForTests = (): void => need(...(Object.keys(packagesOfTests) as (keyof typeof packagesOfTests)[]))

let isListRead = false

export function installDebian(advice: string, names: readonly string[]): void {
  if (!canInstall()) throw new Error(advice)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  // Test files run side by side, and apt-get refuses to start while another one runs.
  const lock = join(tmpdir(), 'roomkeeper-apt.lock')
  const apt = (...args: string[]) =>
    execFileSync('flock', [lock, 'apt-get', '-qq', ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    if (!isListRead) apt('update')
    isListRead = true
    apt('install', '-y', '--no-install-recommends', ...names)
  } catch (error) {
    throw new Error(`${advice} (Installing it failed: ${(error as Error).message})`)
  }
}
