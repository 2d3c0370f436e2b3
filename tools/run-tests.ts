// Runs the tests of `npm test`. If few files fail, each of them runs a second time, alone, and the output lists its failures.
// Options are those of `vitest run`, and `--domain NAME` for the tests of one domain. The last line is for machines: "N passed, N failed".
// A run of all tests also fails for each statement that returned or changed no row on one of the databases.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createVitest, parseCLI, type TestModule, type TestRunResult } from 'vitest/node'
import { readDomainOption } from './domain-tests.ts'
import { declaredInProgram, findUnproved, readNotes } from './statement-gate.ts'

/** If more files fail than this, a busy machine is not the cause, and no file runs again. */
const maxRepeatedFiles = 3

/** These try random inputs or crash a server at random moments. One failure is a finding, so they are not repeated. */
const randomSuites = /endurance|kill|trial|crash|lost|random|property|concurrency|situations/

const { rest, filters } = readDomainOption(process.argv.slice(2))
const { filter, options } = parseCLI(['vitest', 'run', ...rest])
const notesFolder = process.argv.length === 2 ? mkdtempSync(join(tmpdir(), 'roomkeeper-statements-')) : undefined
if (notesFolder) process.env.STATEMENT_NOTES = notesFolder
const vitest = await createVitest({ ...options, watch: false })
const first = await vitest.start([...filters, ...filter])
const failedModules = first.testModules.filter((module) => !module.ok())
const mayRepeat =
  first.unhandledErrors.length === 0 &&
  failedModules.length <= maxRepeatedFiles &&
  failedModules.every(({ relativeModuleId }) => !randomSuites.test(relativeModuleId))

const counts = countResults(first)
if (failedModules.length > 0 && mayRepeat) {
  const firstFailures = failedModules.flatMap(failuresOf)
  const { passed, failed } = countResults({ testModules: failedModules, unhandledErrors: [] })
  const second = { passed: 0, failed: 0 }
  for (const module of failedModules) {
    const { testModules, unhandledErrors } = await vitest.runTestSpecifications([module.toTestSpecification()])
    // The result holds the modules of earlier runs too.
    const results = countResults({ testModules: testModules.filter(({ id }) => id === module.id), unhandledErrors })
    second.passed += results.passed
    second.failed += results.failed
  }
  counts.passed += second.passed - passed
  counts.failed += second.failed - failed
  process.stdout.write(
    `Failed beside other files, and ran again alone, where ${second.failed} failed. Repair these tests:\n${firstFailures.join('\n')}\n\n`,
  )
}
await vitest.close()
if (notesFolder) {
  const unproved = findUnproved(await declaredInProgram(), readNotes(notesFolder))
  rmSync(notesFolder, { recursive: true })
  process.stdout.write(unproved.map((sentence) => `${sentence}\n`).join(''))
  counts.failed += unproved.length
}
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`)
process.exit(counts.failed > 0 || counts.passed === 0 ? 1 : 0)

function countResults({ testModules, unhandledErrors }: TestRunResult): { passed: number; failed: number } {
  let passed = 0
  let failed = unhandledErrors.length
  for (const module of testModules) {
    failed += module.errors().length
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      if (state === 'passed') passed++
      else if (state === 'failed') failed++
    }
  }
  return { passed, failed }
}

function failuresOf(module: TestModule): string[] {
  const tests = [...module.children.allTests('failed')].map(({ fullName }) => fullName)
  const errors = module.errors().map(({ message }) => message)
  return [...tests, ...errors].map((name) => `  ${module.project.name} ${module.relativeModuleId}: ${name}`)
}
