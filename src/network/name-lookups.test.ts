// Look-ups of names that answer when the test says so.
import { expect, test } from 'vitest'
import { NameLookups, type ResolveName } from './name-lookups.ts'

const slowMs = 10_000

/** A resolver whose answers wait for `answer`. */
function newResolver() {
  const asked: { name: string; answer: () => void }[] = []
  const resolveName: ResolveName = (name, _, callback) =>
    asked.push({ name, answer: () => callback(null, [{ address: '192.0.2.1', family: 4 }]) })
  return { asked, resolveName }
}

test('requests for one name share a look-up, and the next one asks again', () => {
  const { asked, resolveName } = newResolver()
  const lookups = new NameLookups(resolveName)
  const answers: string[] = []
  for (const request of ['first', 'second', 'third']) lookups.resolve('a.example', () => answers.push(request))
  expect(asked).toHaveLength(1)
  asked[0]?.answer()
  expect(answers).toEqual(['first', 'second', 'third'])
  lookups.resolve('a.example', () => undefined)
  expect(asked).toHaveLength(2)
})

test('names that were slow are looked up one at a time, and others at once', () => {
  const { asked, resolveName } = newResolver()
  let now = 0
  const lookups = new NameLookups(resolveName, () => now)
  const hostile = ['a.example', 'b.example', 'c.example']
  const names = () => asked.map(({ name }) => name)
  const answerAll = () => {
    for (const { answer } of asked.splice(0)) answer()
  }
  for (const name of hostile) lookups.resolve(name, () => undefined)
  now += slowMs
  answerAll()
  for (const name of hostile) lookups.resolve(name, () => undefined)
  lookups.resolve('honest.example', () => undefined)
  expect(names()).toEqual(['a.example', 'honest.example'])
  answerAll()
  expect(names(), 'a name that answered soon is slow no more').toEqual(['b.example'])
  now += slowMs
  answerAll()
  lookups.resolve('a.example', () => undefined)
  expect(names()).toEqual(['c.example', 'a.example'])
})

test('slow names that would wait too long are refused', () => {
  const { asked, resolveName } = newResolver()
  let now = 0
  const lookups = new NameLookups(resolveName, () => now)
  const names = Array.from({ length: 60 }, (_, i) => `${i}.example`)
  for (const name of names) lookups.resolve(name, () => undefined)
  now += slowMs
  for (const { answer } of asked.splice(0)) answer()
  const refused: string[] = []
  for (const name of names) lookups.resolve(name, (error) => error && refused.push(name))
  expect(refused).toHaveLength(9)
})
