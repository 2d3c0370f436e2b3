// Runs `npm run check`, and then the tests of `npm test`; `--full` runs the tests of `npm run test:full`, `--domain NAME` the tests of one
// domain. Vitest gets all other options. The last line is for machines: "N passed, N failed".
// A run of all tests also fails for each statement that returned or changed no row on one of the databases.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createVitest, parseCLI, type TestRunResult } from 'vitest/node'
import { findPostgres } from '../test/support/database/postgres-cluster.ts'
import { canInstall, installForTests } from '../test/support/debian.ts'
import { readDomainOption } from './domain-tests.ts'
import { declaredInProgram, findUnproved, readNotes } from './statement-gate.ts'

const args = process.argv.slice(2).filter((arg) => arg !== '--full')
if (process.argv.includes('--full')) process.env.TEST_FULL = '1'
const { rest, filters } = readDomainOption(args)
const { filter, options } = parseCLI(['vitest', 'run', ...rest])
const check = spawn('npm', ['run', '--silent', 'check'], { stdio: 'inherit' })
const checked = once(check, 'close')
// The installation waits for the network while the check uses the cores. Where nothing can be installed, the suites say what they need.
if (args.length === 0 && canInstall()) {
  installForTests()
  if (!process.env.TEST_POSTGRES_URL) findPostgres()
}
const [checkCode] = await checked
if (checkCode !== 0) process.exit(1)
const notesFolder = args.length === 0 ? mkdtempSync(join(tmpdir(), 'roomkeeper-statements-')) : undefined
if (notesFolder) process.env.STATEMENT_NOTES = notesFolder
// A store declares its statements when it is loaded, and the setup of the tests loads stores too.
const declared = notesFolder ? await declaredInProgram() : new Map()
const vitest = await createVitest({ ...options, watch: false })
const counts = countResults(await vitest.start([...filters, ...filter]))
await vitest.close()
if (notesFolder) {
  const unproved = findUnproved(declared, readNotes(notesFolder))
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
    // A hook that fails skips the tests of its suite.
    for (const suite of module.children.allSuites()) failed += suite.errors().length
    for (const test of module.children.allTests()) {
      const { state } = test.result()
      if (state === 'passed') passed++
      else if (state === 'failed') failed++
    }
  }
  return { passed, failed }
}
