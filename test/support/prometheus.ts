// Runs Debian's Prometheus on a port of 127.0.0.1, with a configuration of the test.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { need } from './debian.ts'
import { freePort } from './free-port.ts'
import { until } from './program.ts'

export interface PrometheusSeries {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [time: number, value: string]
}

export interface TestPrometheus {
  /** Runs a query, and returns the present value of each series. */
  query(promql: string): Promise<readonly PrometheusSeries[]>
  /** The values of a label of some series, as Grafana asks for those of a variable. */
  labelValues(label: string, series: string): Promise<readonly string[]>
  /** The errors of its scrapes. */
  scrapeErrors(): Promise<readonly string[]>
  stop(): Promise<void>
}

/** `scrape` is the list `scrape_configs`. JSON is YAML. */
export async function startPrometheus(scrape: readonly object[]): Promise<TestPrometheus> {
  need('prometheus')
  const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-prometheus-'))
  const config = join(folder, 'prometheus.yml')
  writeFileSync(config, JSON.stringify({ global: { scrape_interval: '1s' }, scrape_configs: scrape }))
  const address = `127.0.0.1:${await freePort()}`
  const child = spawn(
    'prometheus',
    [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
      '--log.level=error',
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  )
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const get = async (path: string) => {
    const response = await fetch(`http://${address}/api/v1/${path}`)
    const body = (await response.json()) as { status: string; error?: string; data: never }
    if (body.status !== 'success') throw new Error(`${path}: ${body.error}`)
    return body.data
  }
  await until('Prometheus is ready', () =>
    fetch(`http://${address}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return {
    async query(promql) {
      const { result } = (await get(`query?query=${encodeURIComponent(promql)}`)) as { result: PrometheusSeries[] }
      return result
    },
    async labelValues(label, series) {
      return await get(`label/${label}/values?${new URLSearchParams({ 'match[]': series })}`)
    },
    async scrapeErrors() {
      const { activeTargets } = (await get('targets')) as { activeTargets: { lastError: string }[] }
      return activeTargets.map(({ lastError }) => lastError).filter((error) => error !== '')
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
