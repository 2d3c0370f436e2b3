// Tests what a rollback returns and what it keeps, over random changes by a job and by people.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runCount } from '../../../../../test/support/long-form.ts'
import { JobChanges, type MadeVersion, type PresentConfig } from './job-changes.ts'

const jobId = 7
const everyProfile = () => true

interface State {
  readonly keys: Readonly<Record<string, boolean | number | string>>
  readonly profileId: number | null
}
const nothing: State = { keys: {}, profileId: null }

const version = ({ keys, profileId }: State, author: 'job' | 'other job' | 'Ada'): MadeVersion => {
  const { settingsPassword, ...config } = keys
  return {
    explicit: JSON.stringify(config),
    secrets: JSON.stringify(settingsPassword === undefined ? {} : { settingsPassword }),
    profile_id: profileId,
    profile: '{}',
    profile_secrets: '{}',
    job_id: { job: jobId, 'other job': 8, Ada: null }[author],
    author_name: author,
  }
}

function planOf(versions: readonly MadeVersion[], present: Partial<PresentConfig> = {}, hasProfile = everyProfile) {
  const changes = new JobChanges(jobId)
  for (const each of versions) changes.add(each)
  return changes.plan({ ...(versions.at(-1) as MadeVersion), profile_name: null, ...present }, hasProfile)
}
const set = (keys: State['keys'], profileId: number | null = null): State => ({ keys, profileId })

test('a key returns to what it had, and a key that was not set is removed [contract 12.rollback]', () => {
  const before = set({ brightness: 0.5, nightMode: false })
  const after = set({ brightness: 0.5, nightMode: true, fontSize: 'large', settingsPassword: 'sealed 2' })
  expect(planOf([version(before, 'Ada'), version(after, 'job')])).toEqual({
    keys: { config: '{"brightness":0.5,"nightMode":false}', secrets: '{}' },
    profileId: undefined,
    kept: [],
  })
  expect(planOf([version(after, 'job')]).keys).toEqual({ config: '{}', secrets: '{}' })
  const sealed = set({ settingsPassword: 'sealed 1' })
  const password = [version(sealed, 'Ada'), version(set({ settingsPassword: 'sealed 2' }), 'job')]
  expect(planOf(password).keys).toEqual({ config: '{}', secrets: '{"settingsPassword":"sealed 1"}' })
})

test('a key that was set after the job is kept, and the others return [contract 12.rollback]', () => {
  const versions = [
    version(set({ brightness: 0.5 }), 'Ada'),
    version(set({ brightness: 0.9, nightMode: true }), 'job'),
    version(set({ brightness: 0.7, nightMode: true }), 'Ada'),
  ]
  expect(planOf(versions)).toEqual({
    keys: { config: '{"brightness":0.7}', secrets: '{}' },
    profileId: undefined,
    kept: ['brightness was changed by Ada since'],
  })
  const both = version(set({ brightness: 0.7, nightMode: false }), 'other job')
  expect(planOf([...versions, both])).toMatchObject({
    keys: undefined,
    kept: ['brightness was changed by Ada since', 'nightMode was changed by other job since'],
  })
})

test('a key that a profile locks now is kept, and so is a profile that was deleted [contract 12.rollback]', () => {
  const versions = [version(nothing, 'Ada'), version(set({ nightMode: true, brightness: 1 }), 'job')]
  expect(planOf(versions, { profile_id: 3, profile: '{"nightMode":true}', profile_name: 'Quiet' })).toEqual({
    keys: { config: '{"nightMode":true}', secrets: '{}' },
    profileId: undefined,
    kept: ['nightMode is now locked by the profile Quiet'],
  })
  const profiles = [version(set({}, 1), 'Ada'), version(set({}, 2), 'job')]
  expect(planOf(profiles)).toEqual({ keys: undefined, profileId: 1, kept: [] })
  expect(planOf(profiles, {}, () => false)).toEqual({
    keys: undefined,
    profileId: undefined,
    kept: ['the profile 1 that it had was deleted'],
  })
  expect(planOf([version(set({}, 2), 'job')])).toMatchObject({ profileId: null })
  expect(planOf([...profiles, version(set({}, 4), 'Ada')])).toMatchObject({
    profileId: undefined,
    kept: ['the profile was changed by Ada since'],
  })
})

test('an endpoint on which the job changed nothing has nothing to return and nothing to keep', () => {
  const same = set({ nightMode: true })
  const versions = [version(same, 'Ada'), version(same, 'job'), version(set({ nightMode: false }), 'Ada')]
  expect(planOf(versions)).toEqual({ keys: undefined, profileId: undefined, kept: [] })
})

const names = ['brightness', 'nightMode', 'settingsPassword', 'the profile'] as const
type Name = (typeof names)[number]
const value = (name: Name, n: number | null) => {
  if (n === null) return undefined
  return { brightness: n / 10, nightMode: n % 2 === 0, settingsPassword: `sealed ${n}`, 'the profile': n }[name]
}
const stepArbitrary = fc.record({
  author: fc.constantFrom('job', 'other job', 'Ada' as const),
  writes: fc.dictionary(fc.constantFrom(...names), fc.option(fc.integer({ min: 1, max: 4 })), { maxKeys: 4 }),
})

test('after random changes each thing that the job set last has the value from before it, and everything else stays', () => {
  fc.assert(
    fc.property(
      fc.array(stepArbitrary, { maxLength: 4 }),
      fc.array(stepArbitrary, { minLength: 1, maxLength: 12 }),
      (first, later) => {
        // The steps before the job's first one are not its own.
        const steps = [
          ...first.map((step) => ({ ...step, author: 'Ada' })),
          { author: 'job', writes: later[0]?.writes ?? {} },
          ...later,
        ]
        const values: Record<string, unknown> = {}
        // An independent account: for each thing all of its changes, oldest first.
        const history = Object.fromEntries(names.map((name) => [name, [] as { author: string; before: unknown }[]]))
        const versions = steps.map(({ author, writes }) => {
          for (const [name, n] of Object.entries(writes)) {
            const to = value(name as Name, n)
            if (to === values[name]) continue
            history[name]?.push({ author, before: values[name] })
            values[name] = to
          }
          const { 'the profile': profileId = null, ...keys } = values
          return version(
            { keys: JSON.parse(JSON.stringify(keys)), profileId: profileId as number | null },
            author as 'job',
          )
        })
        const from = Math.max(0, first.length - 1)
        const plan = planOf(versions.slice(from))
        const result: Record<string, unknown> = plan.keys
          ? { ...JSON.parse(plan.keys.config), ...JSON.parse(plan.keys.secrets) }
          : { ...values, 'the profile': undefined }
        result['the profile'] = plan.profileId === undefined ? values['the profile'] : (plan.profileId ?? undefined)
        for (const name of names) {
          const changes = history[name] ?? []
          const lastOther = changes.findLastIndex(({ author }) => author !== 'job')
          const isLast = changes.at(-1)?.author === 'job'
          // The first change of the job's last run of changes has the value from before it.
          expect(result[name], name).toEqual(isLast ? changes[lastOther + 1]?.before : values[name])
          if (isLast) expect(plan.kept.filter((reason) => reason.startsWith(name))).toEqual([])
        }
      },
    ),
    { numRuns: runCount({ short: 500, full: 2000, long: 2000 }) },
  )
})
