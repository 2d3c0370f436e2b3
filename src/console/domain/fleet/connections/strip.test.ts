// Tests the parts of a connection strip, and the sentence about a device.
import { expect, test } from 'vitest'
import { durationText } from '../../../../contract/duration-text.ts'
import { type ShownGap, type ShownSpan, stripParts, stripStartMs, summaryText } from './strip.ts'

const minute = (n: number) => new Date(n * 60_000).toISOString()
const span = (from: number, to?: number, why: ShownSpan['why'] = 'LOST'): ShownSpan => ({
  endpointId: 'a',
  from: minute(from),
  ...(to !== undefined && { to: minute(to), why }),
})
const texts = { durationText, timeText: (ms: number) => `minute ${ms / 60_000}` }
const week = { fromMs: 0, toMs: 7 * 24 * 60 * 60_000 }
const window = { fromMs: 0, toMs: 100 * 60_000 }
const shown = (spans: ShownSpan[], knownFrom?: number, gaps: ShownGap[] = []) =>
  stripParts(spans, knownFrom === undefined ? undefined : { knownFrom: minute(knownFrom) }, { ...window, gaps }).map(
    ({ state, fromMs, toMs }) => `${state} ${fromMs / 60_000}-${toMs / 60_000}`,
  )
const gap = (state: ShownGap['state'], from: number, to: number): ShownGap => ({
  endpointId: 'a',
  state,
  from: minute(from),
  to: minute(to),
})

test('the strip covers the whole window: no record, online and offline', () => {
  expect(shown([span(10, 40), span(60)], 5)).toEqual([
    'no record 0-5',
    'offline 5-10',
    'online 10-40',
    'offline 40-60',
    'online 60-100',
  ])
  expect(shown([span(0, 30)], 0)).toEqual(['online 0-30', 'offline 30-100'])
  expect(shown([])).toEqual(['no record 0-100'])
  expect(shown([], 20)).toEqual(['no record 0-20', 'offline 20-100'])
})

test('the time after a server stopped is not offline until the device had its time to come back', () => {
  const ended = span(0, 30, 'SERVER_ENDED')
  const parts = shown([ended, span(60)], 0, [gap('UNKNOWN', 30, 40)])
  expect(parts).toEqual(['online 0-30', 'not known 30-40', 'offline 40-60', 'online 60-100'])
})

test('sleep is not offline, and the time without a gateway in it is not known', () => {
  const gaps = [gap('ASLEEP', 30, 50), gap('UNKNOWN', 50, 60), gap('ASLEEP', 60, 80)]
  const parts = ['online 0-30', 'asleep 30-50', 'not known 50-60', 'asleep 60-80']
  expect(shown([span(0, 30), span(90)], 0, gaps)).toEqual([...parts, 'offline 80-90', 'online 90-100'])
})

test('spans that follow each other without a pause are one part', () => {
  expect(shown([span(0, 30, 'REPLACED'), span(30, 50), span(70)], 0)).toEqual([
    'online 0-50',
    'offline 50-70',
    'online 70-100',
  ])
})

test('an offline part knows why the connection before it ended', () => {
  expect(stripParts([span(0, 30, 'DISCONNECTED')], { knownFrom: minute(0) }, window)[1]).toMatchObject({
    why: 'DISCONNECTED',
  })
})

test('the sentence never rounds an outage away', () => {
  const text = (onlineShare: number | undefined, outages: number, longestOutageSeconds = 0) =>
    summaryText(
      { endpointId: 'a', ...(onlineShare !== undefined && { onlineShare }), outages, longestOutageSeconds },
      texts,
      week,
    )
  expect(text(0.992, 3, 2460)).toBe('99.2 % online, 3 outages, longest 41 min')
  expect(text(0.9999, 1, 60)).toBe('99.9 % online, 1 outage, longest 1 min')
  expect(text(1, 0)).toBe('100 % online, no outages')
  expect(text(undefined, 0)).toBe('No data yet')
})

test('time whose connections were left out has no record, and is not an outage', () => {
  const summary = {
    endpointId: 'a',
    knownFrom: minute(0),
    omittedSpans: 500,
    outages: 900,
    longestOutageSeconds: 60,
    onlineShare: 0.96,
  }
  const parts = stripParts([span(60, 70), span(71)], summary, window)
  expect(parts.map(({ state, fromMs }) => `${state} ${fromMs / 60_000}`)).toEqual([
    'no record 0',
    'online 60',
    'offline 70',
    'online 71',
  ])
  expect(summaryText(summary, texts, week)).toBe(
    '96 % online, 900 outages, longest 1 min; older connections are not shown',
  )
})

test('a device that is being restarted is not offline', () => {
  const states = (spans: ShownSpan[]) =>
    stripParts(spans, { knownFrom: minute(0) }, { ...window, isRestarting: true }).map(({ state }) => state)
  expect(states([span(0, 90)])).toEqual(['online', 'restarting'])
  expect(states([span(0, 50), span(60)])).toEqual(['online', 'offline', 'online'])
})

test('the time away after a restart that a person asked for does not count as an outage, for 10 minutes [contract 12.when]', () => {
  const restarts = [{ fromMs: 40 * 60_000, toMs: 45 * 60_000 }]
  const spans = (end: number, back: number) => [span(0, end, 'DISCONNECTED'), span(back)]
  const partsOf = (end: number, back: number) =>
    stripParts(spans(end, back), { knownFrom: minute(0) }, { ...window, restarts })
  const states = (end: number, back: number) =>
    partsOf(end, back).map(({ state, fromMs, toMs }) => `${state} ${fromMs / 60_000}-${toMs / 60_000}`)
  expect(states(40, 42)).toEqual(['online 0-40', 'restarting 40-42', 'online 42-100'])
  expect(states(45, 55)).toEqual(['online 0-45', 'restarting 45-55', 'online 55-100'])
  expect(states(41, 60)).toEqual(['online 0-41', 'restarting 41-51', 'offline 51-60', 'online 60-100'])
  expect(states(39, 42), 'before it was sent').toEqual(['online 0-39', 'offline 39-42', 'online 42-100'])
  expect(states(46, 48), 'after its deadline').toEqual(['online 0-46', 'offline 46-48', 'online 48-100'])
  const text = (end: number, back: number) => {
    const summary = { endpointId: 'a', onlineShare: 0.992, outages: 1, longestOutageSeconds: (back - end) * 60 }
    return summaryText(summary, texts, week, partsOf(end, back))
  }
  expect(text(40, 42)).toBe('99.2 % online, no outages, 1 restart')
  expect(text(41, 60)).toBe('99.2 % online, 1 outage, longest 9 min')
  expect(text(39, 42)).toBe('99.2 % online, 1 outage, longest 3 min')
})

test('a record that began inside the window says since when, and a percentage needs a day of it', () => {
  const dayMinutes = 24 * 60
  const text = (knownFromMinute: number) =>
    summaryText(
      { endpointId: 'a', knownFrom: minute(knownFromMinute), onlineShare: 0.161, outages: 1, longestOutageSeconds: 60 },
      texts,
      week,
    )
  expect(text(0)).toBe('16.1 % online, 1 outage, longest 1 min')
  expect(text(5 * dayMinutes)).toBe('16.1 % online since minute 7200, 1 outage, longest 1 min')
  expect(text(7 * dayMinutes - 30)).toBe('Known since minute 10050, 1 outage, longest 1 min')
})

test('the strips begin with the first record, and show an hour at least', () => {
  const summary = (knownFromMinute?: number) => ({
    ...{ endpointId: 'a', outages: 0, longestOutageSeconds: 0 },
    ...(knownFromMinute !== undefined && { knownFrom: minute(knownFromMinute) }),
  })
  const endMinute = week.toMs / 60_000
  expect(stripStartMs([summary(), summary(600), summary(500)], week)).toBe(500 * 60_000)
  expect(stripStartMs([summary(endMinute - 3)], week)).toBe((endMinute - 60) * 60_000)
  expect(stripStartMs([summary(), summary()], week)).toBe(0)
})
