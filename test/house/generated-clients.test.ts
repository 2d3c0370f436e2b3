// Code that openapi-typescript and orval generate from openapi.json compiles under strict rules, and its types are useful.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isFullForm } from '../support/long-form.ts'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'roomkeeper-generated-'))
afterAll(() => rmSync(folder, { recursive: true }))

const run = (...args: string[]) => promisify(execFile)(process.execPath, args, { cwd: root })

beforeAll(async () => {
  const types = ['node_modules/openapi-typescript/bin/cli.js', 'openapi.json', '-o', join(folder, 'schema.ts')]
  const client = ['--input', 'openapi.json', '--output', join(folder, 'client.ts'), '--client', 'fetch']
  await Promise.all([
    run('--import', './test/support/typescript5.ts', ...types),
    run('node_modules/.bin/orval', ...client),
  ])
})

/** Every switch that a strict project may have. */
const compilerOptions = {
  ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, noImplicitOverride: true },
  ...{ noImplicitReturns: true, noFallthroughCasesInSwitch: true, noPropertyAccessFromIndexSignature: true },
  ...{ isolatedModules: true, noUnusedLocals: true, noUnusedParameters: true },
  ...{ target: 'es2022', lib: ['es2023', 'dom', 'dom.iterable'], module: 'esnext', moduleResolution: 'bundler' },
  ...{ types: [], noEmit: true, allowImportingTsExtensions: true },
}

const use = `
import { auditLogs, endpointsApplyConfig, endpointsSettings, roomNotesCreate } from './client.ts'
import type { components, paths } from './schema.ts'

type Query = paths['/v1/orgs/{orgid}/audit/logs']['get']['parameters']['query']
export const window: Query = { from: '2026-01-01', to: '2026-01-02T00:00:00Z', pageSize: 10 }
// @ts-expect-error: the end of the window is required
export const incomplete: Query = { from: '2026-01-01' }
export const settings: components['schemas']['EndpointSettings'] = { nightMode: true, brightness: 0.5 }
// @ts-expect-error: a boolean
export const wrong: components['schemas']['EndpointSettings'] = { nightMode: 'yes' }

export async function run(org: string, id: string): Promise<string[]> {
  const now = await endpointsSettings(org, id)
  if (now.status !== 200) return []
  await endpointsApplyConfig(org, id, { ...now.data, brightness: null })
  // @ts-expect-error: the note is text
  await roomNotesCreate(org, 7, { note: 7 })
  const logs = await auditLogs(org, window)
  if (logs.status !== 200 || typeof logs.data === 'string') return []
  return logs.data.logs.map((entry) => entry.type)
}
`

/** The compiler of this project takes a fifth of the CPU of TypeScript 5, which users may have. */
const compiler = isFullForm ? 'node_modules/typescript5/bin/tsc' : 'node_modules/typescript/bin/tsc'

test('generated code compiles under strict rules', async () => {
  writeFileSync(join(folder, 'use.ts'), use)
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
  const compiled = run(compiler, '-p', folder).catch(({ stdout }) => ({ stdout }))
  expect((await compiled).stdout).toBe('')
})
