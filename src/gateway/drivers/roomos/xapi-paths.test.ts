// Every path, parameter and value that the driver uses exists in at least one of the four releases, and the driver needs none of the optional ones.
import { describe, expect, test } from 'vitest'
import {
  type Release,
  releases,
  type XapiEntry,
  xapiTable,
} from '../../../simulator/hardware-fakes/codec/xapi-table.ts'
import { entryOf, isAllowed } from '../../../simulator/hardware-fakes/codec/xapi-values.ts'
import { standbyMinutes, wordSettings } from './settings.ts'
import {
  alertLimits,
  commands,
  configurationPaths,
  configurationReads,
  configurationValues,
  statusPaths,
  statusReads,
  statusSubscriptions,
  statusValues,
} from './xapi-paths.ts'

const rowsOf = (kind: XapiEntry['kind'], path: string) =>
  xapiTable.filter((entry) => entry.kind === kind && withoutIds(entry.path) === withoutIds(path))
const withoutIds = (path: string) => path.replaceAll(/\[.*?\]/g, '[n]')
const withoutLists = (path: string) => path.replaceAll(/\[.*?\]/g, '')

test('every status and every setting that the driver keeps exists', () => {
  expect(statusPaths.filter((path) => rowsOf('Status', path).length === 0)).toEqual([])
  expect(configurationPaths.filter((path) => rowsOf('Configuration', path).length === 0)).toEqual([])
})

test.each([
  ['Status', statusValues],
  ['Configuration', configurationValues],
] as const)('every value of %s that the driver compares with or sets exists', (kind, values) => {
  for (const [path, words] of Object.entries(values)) {
    for (const word of words) {
      const isKnown = rowsOf(kind, path).some((entry) => isAllowed(entry, word))
      expect(isKnown, `${path} ${word}`).toBe(true)
    }
  }
})

test('every value of ours that has one word at the codec is a word of all releases that have the setting', () => {
  for (const { path, pairs } of Object.values(wordSettings)) {
    for (const [, word] of pairs) {
      for (const release of releases) {
        const entry = entryOf(release, 'Configuration', path)
        if (entry) expect(isAllowed(entry, word), `${release} ${path} ${word}`).toBe(true)
      }
    }
  }
  const [delay] = rowsOf('Configuration', 'Standby Delay')
  expect(delay?.integer).toEqual([standbyMinutes.min, standbyMinutes.max])
})

test('everything that the driver reads or subscribes to leads to a value that it keeps', () => {
  const leadsTo = (paths: readonly string[], query: string) =>
    paths.some((path) => `${withoutLists(path)} `.startsWith(`${withoutLists(query)} `))
  expect([...statusReads, ...statusSubscriptions].filter((query) => !leadsTo(statusPaths, query))).toEqual([])
  expect(configurationReads.filter((query) => !leadsTo(configurationPaths, query))).toEqual([])
  // The driver reads everything that it keeps.
  const isRead = (reads: readonly string[], path: string) =>
    reads.some((query) => `${withoutLists(path)} `.startsWith(`${withoutLists(query)} `))
  expect(statusPaths.filter((path) => !isRead(statusReads, path))).toEqual([])
  expect(configurationPaths.filter((path) => !isRead(configurationReads, path))).toEqual([])
})

test('the driver reads every subtree that it subscribes to, for codecs that refuse the subscription', () => {
  const isRead = (path: string) => statusReads.some((read) => `${path} `.startsWith(`${read} `))
  expect(statusSubscriptions.filter((path) => !isRead(path))).toEqual([])
})

test('a codec takes as many subscriptions as the driver wants, with one for all settings', () => {
  expect(statusSubscriptions.length + 1).toBeLessThanOrEqual(38)
})

describe.each(releases)('RoomOS %s', (release: Release) => {
  test('has every command with the parameters and the values that the driver sends', () => {
    for (const { path, params } of Object.values(commands)) {
      const entry = entryOf(release, 'Command', path)
      for (const [name, value] of Object.entries(params)) {
        const parameter = entry?.params?.[name]
        expect(parameter && isAllowed(parameter, value), `${path} ${name} ${value}`).toBe(true)
      }
      expect(entry, path).toBeDefined()
    }
    const alert = entryOf(release, 'Command', commands.alert.path)?.params
    expect(alert?.Text).toMatchObject({ text: [0, alertLimits.maxTextCharacters] })
    expect(alert?.Duration).toMatchObject({ integer: [0, alertLimits.maxDurationSeconds] })
  })
})
