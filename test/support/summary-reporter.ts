// Ends a test run with the line that machines read: "N passed, N failed".
import type { Reporter, TestModule } from 'vitest/node'

export default class LastLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0
    let failed = unhandledErrors.length
    for (const module of modules) {
      failed += module.errors().length
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') passed++
        else if (state === 'failed') failed++
      }
    }
    process.stdout.write(`${passed} passed, ${failed} failed\n`)
  }
}
