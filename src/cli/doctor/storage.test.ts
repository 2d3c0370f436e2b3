// The doctor judges free space: it fails when little is left, and warns before.
import { expect, test } from 'vitest'
import { judgeFreeSpace } from './storage.ts'

const mebibyteBytes = 2 ** 20

test.each([
  [0, 'failed', /^0 MiB are free for data\. Writes fail when it is full: free some space\.$/],
  [63, 'failed', /^63 MiB/],
  [64, 'warning', /^64 MiB are free for data\. Free some space soon\.$/],
  [1023, 'warning', /^1023 MiB/],
  [1024, 'ok', /^1024 MiB are free for data\.$/],
])('%i MiB are %s', (mebibytes, state, text) => {
  const finding = judgeFreeSpace(mebibytes * mebibyteBytes, 'data')
  expect(finding).toMatchObject({ subject: 'disk', state })
  expect(finding.message).toMatch(text)
})
