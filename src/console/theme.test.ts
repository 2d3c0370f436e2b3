// The colours of states have the contrast that WCAG AA asks for, in light and dark.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { cssVariables, theme } from './theme.ts'

/** The relative luminance of WCAG 2. */
function luminance(hex: string): number {
  const [r = 0, g = 0, b = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

test.each(['light', 'dark'] as const)(
  'text of a state has a contrast of 4.5 in %s, and the fills of offline, unknown and running and lines of charts one of 3',
  (scheme) => {
    const colours = cssVariables(theme as never)[scheme]
    const of = (name: string) => colours[`--rk-${name}`] ?? ''
    const pairs = [
      ...['healthy', 'degraded', 'offline', 'empty', 'running'].flatMap((text) => [
        [text, 'panel', 4.5] as const,
        [text, 'page', 4.5] as const,
      ]),
      ['on-degraded', 'degraded-fill', 4.5] as const,
      ['on-offline', 'offline-fill', 4.5] as const,
      ...['offline-fill', 'unknown-fill', 'running-fill', 'people', 'air'].map((fill) => [fill, 'panel', 3] as const),
    ]
    expect(pairs.filter(([one, other, least]) => contrast(of(one), of(other)) < least)).toEqual([])
  },
)

test('the skeletons of index.html have the colours of the theme, which they are drawn before', () => {
  const html = readFileSync(new URL('./index.html', import.meta.url), 'utf8')
  const twins = { page: 'page', panel: 'panel', line: 'line', bar: 'empty-fill' }
  for (const [scheme, rule] of [
    ['light', ':root {'],
    ['dark', ':root[data-mantine-color-scheme="dark"] {'],
  ] as const) {
    const colours = cssVariables(theme as never)[scheme]
    const block = html.split(rule)[1]?.split('}')[0] ?? ''
    for (const [skeleton, token] of Object.entries(twins))
      expect(block).toContain(`--skeleton-${skeleton}: ${colours[`--rk-${token}`]};`)
  }
})
