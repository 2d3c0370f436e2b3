// The look at commit numbers: readers share it, and none gets one that began before the reader came.
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { SystemReader } from '../../db/system.ts'
import { LastCommitsReader } from './last-commits.ts'

/** A reader whose statements are answered by the test, with the orgs of each. */
function heldStatements() {
  const statements: { orgs: unknown; answer: (lastNode: number) => void; fail: (error: Error) => void }[] = []
  const run = (_: unknown, [orgs]: readonly unknown[]) =>
    new Promise((resolve, reject) => {
      const answer = (number: number) => resolve([{ node: null, org: null, number }])
      statements.push({ orgs, answer, fail: reject })
    })
  return {
    statements,
    reader: new LastCommitsReader({ run, errorOf: (error: unknown) => error } as unknown as SystemReader),
  }
}
const turns = async () => {
  for (let n = 0; n < 5; n++) await nextTurn()
}

test('readers that come together share a look, and those that come during it share the next', async () => {
  const { statements, reader } = heldStatements()
  const early = [reader.read(1), reader.read(2), reader.read(1)]
  await turns()
  expect(statements.map(({ orgs }) => orgs)).toEqual(['{1,2}'])
  const late = [reader.read(3), reader.read(1)]
  await turns()
  expect(statements).toHaveLength(1)
  statements[0]?.answer(7)
  expect((await Promise.all(early)).map(({ lastNode }) => lastNode)).toEqual([7, 7, 7])
  await turns()
  expect(statements.map(({ orgs }) => orgs)).toEqual(['{1,2}', '{3,1}'])
  statements[1]?.answer(8)
  expect((await Promise.all(late)).map(({ lastNode }) => lastNode)).toEqual([8, 8])
})

test('a look that fails is an error for those who share it, and not for the next ones', async () => {
  const { statements, reader } = heldStatements()
  const failing = reader.read(1)
  await turns()
  const later = reader.read(1)
  statements[0]?.fail(new Error('gone'))
  await expect(failing).rejects.toThrow('gone')
  await turns()
  statements[1]?.answer(1)
  expect(await later).toMatchObject({ lastNode: 1 })
})

test('a look on a connection that is lost without an error does not hold up the next ones', async () => {
  const { statements, reader } = heldStatements()
  void reader.read(1)
  await turns()
  const later = reader.read(1)
  await expect.poll(() => statements.length).toBe(2)
  statements[1]?.answer(1)
  expect(await later).toMatchObject({ lastNode: 1 })
})
