// Measures how much CPU the overview takes in a browser while a large fleet is live and some of its devices flap.
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Fleet } from '../../src/simulator/fleet.ts'
import { newTab, settled, signInWithKey, startBrowser } from '../support/console/browser.ts'
import { type Harness, startHarness } from '../support/harness.ts'

const measuredSeconds = 120
const maxShare = 0.05
const size = { endpoints: 1500, rooms: 800, locations: 40, regions: 4 }
const behaviour = { seed: 1, speed: 1, intervalSeconds: 30, flapShare: 0.01, rejectConfig: 0, backfillMs: 0 }

let harness: Harness
const ended = new AbortController()
beforeAll(async () => {
  harness = await startHarness({ rateLimit: 0 })
})
afterAll(async () => {
  ended.abort()
  await harness.close()
})

const numberIn = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1])

/** Reads a file of every process that runs. */
function readProcesses(file: string): Map<number, string> {
  const texts = new Map<number, string>()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      texts.set(Number(pid), readFileSync(`/proc/${pid}/${file}`, 'utf8'))
    } catch {
      // The process has ended.
    }
  }
  return texts
}

/** The CPU time of a process and all of its descendants, which the kernel counts for each thread in nanoseconds. */
function cpuSecondsOfTree(root: number): number {
  const parents = new Map([...readProcesses('status')].map(([pid, text]) => [pid, numberIn(text, /^PPid:\s+(\d+)/m)]))
  const isInTree = (pid: number): boolean => pid === root || (pid > 1 && isInTree(parents.get(pid) ?? 0))
  const tasks = [...parents.keys()].filter(isInTree).flatMap((pid) => readdirSync(`/proc/${pid}/task`))
  return tasks.reduce((sum, task) => sum + numberIn(readFileSync(`/proc/${task}/schedstat`, 'utf8'), /^(\d+)/), 0) / 1e9
}

/** Chromium passes its options on to its other processes, so the first one is the one without a type. */
function browserPid(option: string): number {
  for (const [pid, command] of readProcesses('cmdline'))
    if (command.includes(option) && !command.includes('--type=') && command.includes('chromium')) return pid
  throw new Error(`no browser with ${option} runs`)
}

test('the overview of 1,500 devices, 1 % of them flapping, takes less than 5 % of a core in the browser', async () => {
  const { id: org, key } = await harness.newOrg()
  const server = { url: harness.url, org, key, stateFile: join(harness.place.dataDir, 'fleet.json') }
  const fleet = new Fleet({ ...server, ...size, ...behaviour }, ended.signal)
  await fleet.build()
  // The argument makes it possible to find the process among others.
  const mark = `--roomkeeper-test=${randomUUID()}`
  const browser = await startBrowser([mark])
  try {
    const pid = browserPid(mark)
    const share = async () => {
      const before = cpuSecondsOfTree(pid)
      await pause(measuredSeconds * 1000)
      return (cpuSecondsOfTree(pid) - before) / measuredSeconds
    }
    const tab = await newTab(browser, harness.url)
    const atRest = await share()
    await signInWithKey(tab, key)
    await settled(tab.page, 'Overview')
    await tab.page.getByRole('status', { name: /^Live/ }).waitFor()
    let requests = 0
    tab.page.on('request', () => requests++)
    const live = await share()
    const percent = (value: number) => `${(100 * value).toFixed(2)} %`
    process.stdout.write(
      `Overview: ${percent(live)} of a core, an empty page ${percent(atRest)}; ${requests} requests in ${measuredSeconds} s\n`,
    )
    expect(live).toBeLessThan(maxShare)
  } finally {
    await browser.close()
    await fleet.stop()
  }
})
