// Time limits of 2 s and more are in core/time-limits.ts, where tests can shorten all of them and the documents are compared with them.
import { expect, test } from 'vitest'
import { sourceFiles } from './source-files.ts'

test('no file of the server but the table has a time limit of 2 s or more', () => {
  const limit = /(?:const \w*timeout\w*Ms = |\btimeout\w*: |_timeout[:=] ?)([\d_]+)(s?)\b/gi
  const found = sourceFiles('src')
    .filter(({ path }) => path.startsWith('server/') && path !== 'server/core/time-limits.ts')
    .flatMap(({ path, text }) =>
      [...text.matchAll(limit)].map(([line, number = '', unit]) => ({ path, line, number, unit })),
    )
    .filter(({ number, unit }) => Number(number.replaceAll('_', '')) * (unit === 's' ? 1000 : 1) >= 2_000)
  expect(
    found.map(({ path, line }) => `${path}: ${line}`),
    'Add it to src/server/core/time-limits.ts',
  ).toEqual([])
})
