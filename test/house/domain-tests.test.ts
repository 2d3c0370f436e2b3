// The tests of a domain can be run alone: `npm test -- --domain jobs`.
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { domains, readDomainOption, suitesOfDomains, testsOfDomain } from '../../tools/domain-tests.ts'

const tests = globSync('{src,test}/**/*.test.ts', { cwd: join(import.meta.dirname, '../..') })

test.each(domains)('the domain %s has tests of its own, and every suite that it names exists', (domain) => {
  const [contract, server, console, ...suites] = testsOfDomain(domain)
  expect([contract, server, console]).toEqual([
    `src/contract/${domain}/`,
    `src/server/${domain}/`,
    `src/console/domain/${domain}/`,
  ])
  expect(tests.filter((path) => path.startsWith(server as string))).not.toEqual([])
  expect(suites.filter((suite) => !tests.some((path) => path.startsWith(suite)))).toEqual([])
})

test('--domain is taken out of the arguments, and the options of Vitest stay', () => {
  const filters = testsOfDomain('jobs')
  expect(readDomainOption(['--project', 'sqlite', '--domain', 'jobs', '-t', 'pause'])).toEqual({
    rest: ['--project', 'sqlite', '-t', 'pause'],
    filters,
  })
  expect(readDomainOption(['--domain=jobs'])).toEqual({ rest: [], filters })
  expect(readDomainOption(['--project', 'house'])).toEqual({ rest: ['--project', 'house'], filters: [] })
  expect(filters).toEqual(expect.arrayContaining([...suitesOfDomains.jobs]))
})

test.each([[['--domain']], [['--domain', 'rooms']], [['--domain=']]])(
  '%j is refused with the names of the domains',
  (args) => {
    expect(() => readDomainOption(args)).toThrow(/reports, channels, incidents, sensors, people, jobs, fleet, journal/)
  },
)
