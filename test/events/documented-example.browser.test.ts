// docs/events.md is real: its example follows events through an interruption, and EventSource works as it says.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { closeTabs, newTab, openBrowser, signInWithKey } from '../support/console/browser.ts'
import { type Harness, startHarness } from '../support/harness.ts'
import { until } from '../support/program.ts'
import { wireTo } from '../support/severable-proxy.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

interface Example {
  followEvents(options: {
    url: string
    org: string
    key: string
    onEvent: (event: { type: string; change?: { target: { name: string } } }) => void
    signal: AbortSignal
  }): Promise<string | undefined>
}
const page = readFileSync(join(import.meta.dirname, '../../docs/events.md'), 'utf8')
const [, source = ''] = /^```js\n([\s\S]*?)^```$/m.exec(page) ?? []

test('the example hears every event once, also across an interruption, and ends with its key [contract 6.events]', async () => {
  const { followEvents } = (await import(
    `data:text/javascript;base64,${Buffer.from(source).toString('base64')}`
  )) as Example
  const org = await harness.newOrg()
  const key = await org.newKey({ scopes: ['read'] })
  const wire = await wireTo(harness.url)
  const warned = vi.spyOn(console, 'warn').mockImplementation(() => {})
  onTestFinished(() => warned.mockRestore())
  const names: string[] = []
  const onEvent: Parameters<Example['followEvents']>[0]['onEvent'] = ({ change }) => {
    if (change) names.push(change.target?.name ?? '')
  }
  const stop = new AbortController()
  const ended = followEvents({ url: wire.url, org: org.id, key, onEvent, signal: stop.signal })
  const create = (name: string) => org.call('POST', '/regions', { body: { name } })
  let probes = 0
  await until('the stream to be open', async () => {
    await create(`probe ${++probes}`)
    return names.length > 0
  })
  await create('Europe, «Ø» 🎉')
  await until('the event', () => names.includes('Europe, «Ø» 🎉'))
  wire.cut()
  await create('Asia')
  wire.mend()
  await create('Africa')
  await until('the events of the interruption', () => names.includes('Africa'))
  expect(warned).toHaveBeenCalled()
  expect(names.slice(names.indexOf('Europe, «Ø» 🎉'))).toEqual(['Europe, «Ø» 🎉', 'Asia', 'Africa'])

  const { keys } = (await org.call('GET', '/keys')).body
  const used = keys.find((k: { scopes: string[] }) => k.scopes.length === 1)
  await org.call('DELETE', `/keys/${used.id}`)
  expect(await ended).toBe('the key is not valid')
})

test('EventSource follows events with the cookie of the console, and only with it [contract 9.cookie]', async () => {
  const org = await harness.newOrg()
  const browser = await openBrowser()
  try {
    const tab = await newTab(browser, harness.url)
    const open = () =>
      tab.page.evaluate(
        (path) =>
          new Promise<string>((resolve) => {
            const source = new EventSource(path)
            source.onopen = () => resolve('open')
            source.onerror = () => resolve('refused')
          }),
        `/v1/orgs/${org.id}/events`,
      )
    await tab.page.goto('/')
    expect(await open()).toBe('refused')
    await signInWithKey(tab, org.key)
    tab.trouble.length = 0
    expect(await open()).toBe('open')
  } finally {
    await closeTabs(browser)
  }
})
