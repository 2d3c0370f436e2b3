// Compares the text of a latency histogram with that of prom-client for the same latencies.
import { Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { LatencyHistogram } from './latency-histogram.ts'

const name = 'roomkeeper_test_seconds'
const help = 'Latencies of this test.'
const buckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

test('a histogram writes the lines that prom-client would write', async () => {
  const registry = new Registry()
  const theirs = new Histogram({ name, help, labelNames: ['operation'], buckets, registers: [registry] })
  const ours = new LatencyHistogram(name, help, 'operation')
  expect(ours.toText()).toBe(await registry.metrics())
  const latencies = [0, ...buckets.flatMap((bound) => [bound * 0.99, bound, bound * 1.01]), 3_600]
  for (const [i, seconds] of latencies.entries()) {
    for (const operation of i % 3 === 0 ? ['none', 'regionsList'] : ['regionsList']) {
      ours.observe(operation, seconds)
      theirs.observe({ operation }, seconds)
    }
  }
  expect(ours.toText()).toBe(await registry.metrics())
})
