// The examples for Prometheus and Grafana: promtool accepts them, the alerts fire as they should, and every metric exists.
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { need } from '../support/debian.ts'
import { engine, type Harness, startHarness } from '../support/harness.ts'

const deploy = join(import.meta.dirname, '../../deploy')
const run = promisify(execFile)
let service: Harness
beforeAll(async () => {
  if (engine === 'sqlite') need('promtool')
  service = await startHarness()
})
afterAll(() => service.close())

// The files are the same on both databases; the metrics that they name are checked on both.
test.runIf(engine === 'sqlite').each([
  ['check', 'config', 'prometheus.yml'],
  ['check', 'rules', 'roomkeeper.rules.yml'],
  ['test', 'rules', 'roomkeeper.rules.test.yml', 'roomkeeper.rules.days.test.yml'],
])('promtool %s %s %s succeeds', async (...args) => {
  const { stdout } = await run('promtool', args, { cwd: join(deploy, 'prometheus') })
  expect(stdout).toContain('SUCCESS')
})

test('every metric of the dashboard and of the alerts is one of the service', async () => {
  const { text } = await service.call('GET', '/metrics')
  const types = new Map([...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = '', type = '']) => [name, type]))
  const exists = (name: string) =>
    types.has(name) || types.get(name.replace(/_(bucket|sum|count)$/, '')) === 'histogram'
  const operations = readFileSync(join(deploy, '../docs/operations.md'), 'utf8')
  /** The guide says of some metrics that they exist only with an option that this service was not given. */
  const needsOption = (name: string) => new RegExp(`\`${name}\` .*; only with`).test(operations)
  const isOfPostgres = (name: string) => new RegExp(`\`${name}{pool}\` .*PostgreSQL only`).test(operations)

  const dashboard = JSON.parse(readFileSync(join(deploy, 'grafana/roomkeeper.json'), 'utf8'))
  const expressions: string[] = dashboard.panels.flatMap((panel: { targets: { expr: string }[] }) =>
    panel.targets.map(({ expr }) => expr),
  )
  expect(expressions.length).toBeGreaterThan(20)
  const rules = readFileSync(join(deploy, 'prometheus/roomkeeper.rules.yml'), 'utf8')
  const named = (from: string) => [...from.matchAll(/\b([a-z]\w*)\{job=/g)].map(([, name = '']) => name)
  const names = new Set([...expressions.flatMap(named), ...named(rules)])
  expect(names.size).toBeGreaterThan(20)
  const missing = [...names].filter((name) => name !== 'up' && !exists(name) && !needsOption(name))
  expect(missing.filter((name) => engine !== 'sqlite' || !isOfPostgres(name))).toEqual([])
  expect(names).toContain('roomkeeper_db_waiting')
})

test.runIf(engine === 'sqlite')('every expression of the dashboard is PromQL', async () => {
  const dashboard = JSON.parse(readFileSync(join(deploy, 'grafana/roomkeeper.json'), 'utf8'))
  const rules = dashboard.panels.flatMap((panel: { targets: { expr: string }[] }) =>
    panel.targets.map(({ expr }, i) => ({
      record: `dashboard:panel${i}`,
      expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    })),
  )
  // JSON is YAML, and a file of rules is a way to have promtool parse expressions.
  const file = join(service.place.dataDir, 'dashboard.rules.yml')
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  const { stdout } = await run('promtool', ['check', 'rules', '--lint=none', file])
  expect(stdout).toContain(`${rules.length} rules found`)
})
