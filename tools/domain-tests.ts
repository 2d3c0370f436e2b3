// Finds the tests of one domain, for `npm test -- --domain jobs`: those of contract, server and console, and suites in test/ on its subject.

/** The beginnings of the names of suites in test/ and of the console's pages on the subject of a domain; domains from the top down. */
export const suitesOfDomains = {
  reports: ['src/insight/'],
  channels: [
    'src/console/pages/settings/channels/',
    'test/console/notifications.',
    'test/docs/channels.',
    'test/process/crashes/delivery-kills.',
  ],
  incidents: ['test/console/incidents', 'test/console/silences.'],
  sensors: ['test/devices/ingest-budget.', 'test/process/crashes/ingest-crash.'],
  people: [
    'src/console/pages/settings/identity/',
    'test/console/identity.',
    'test/console/passkeys.',
    'test/console/people',
    'test/console/roles.',
    'test/http/auth.',
    'test/http/console-',
    'test/http/user-',
    'test/sign-in/',
  ],
  jobs: ['src/console/pages/jobs/', 'test/console/bulk.', 'test/console/jobs.', 'test/process/crashes/job-kills.'],
  fleet: [
    'src/console/pages/room/',
    'test/console/device.',
    'test/console/profiles.',
    'test/devices/enrol.',
    'test/devices/unenrolled.',
  ],
  journal: ['test/events/events.', 'test/events/region-access.', 'test/process/cli-audit.', 'test/process/settings.'],
} as const satisfies Record<string, readonly string[]>

type Domain = keyof typeof suitesOfDomains

export const domains = Object.keys(suitesOfDomains) as readonly Domain[]

/** Filters for Vitest, which runs every test file whose path contains one of them. */
export const testsOfDomain = (domain: Domain): readonly string[] => [
  `src/contract/${domain}/`,
  `src/server/${domain}/`,
  `src/console/domain/${domain}/`,
  ...suitesOfDomains[domain],
]

/** Takes `--domain NAME` out of the arguments, because Vitest does not know it, and returns the filters of that domain. */
export function readDomainOption(args: readonly string[]): { rest: string[]; filters: readonly string[] } {
  const at = args.findIndex((arg) => arg === '--domain' || arg.startsWith('--domain='))
  if (at < 0) return { rest: [...args], filters: [] }
  const isSeparate = args[at] === '--domain'
  const name = isSeparate ? args[at + 1] : args[at]?.slice('--domain='.length)
  const domain = domains.find((known) => known === name)
  if (!domain) throw new Error(`There is no domain "${name ?? ''}". Use --domain with one of ${domains.join(', ')}.`)
  return { rest: args.toSpliced(at, isSeparate ? 2 : 1), filters: testsOfDomain(domain) }
}
