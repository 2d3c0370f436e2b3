// `roomkeeper doctor`: checks the installation with the options of `serve`, and says what to do about each problem.
import type { ServeOptions } from '../../server/config/server-options.ts'
import { forgottenPostgres, withRecordedDatabase } from '../../server/config/server-record.ts'
import { StartupError } from '../../server/core/failure.ts'
import { programVersion } from '../../server/core/program-files.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { printResult } from '../terminal/terminal.ts'
import { checkCertificate } from './certificate.ts'
import { type DoctorFinding, warning } from './finding.ts'
import { checkNetwork } from './network.ts'
import { checkStorage } from './storage.ts'

export async function doctorCommand(terminal: Terminal, options: ServeOptions & { json?: boolean }): Promise<void> {
  const now = Date.now()
  const forgotten = forgottenPostgres(options)
  const findings = [
    ...(await checkStorage({ ...options, ...withRecordedDatabase(options) }, now)),
    ...(forgotten === undefined ? [] : [warning('database', `"serve" refuses these options. ${forgotten}`)]),
    checkCertificate(options, now),
    ...(await checkNetwork(options)),
  ]
  const failures = findings.filter(({ state }) => state === 'failed').length
  printResult(terminal, options.json, { ok: failures === 0, ...programVersion(), findings }, [
    `Roomkeeper ${terminal.version} on Node ${process.versions.node}`,
    ...findings.map(lineOf),
  ])
  if (failures > 0) throw new StartupError(failures === 1 ? '1 check failed.' : `${failures} checks failed.`)
}

const lineOf = ({ state, subject, message }: DoctorFinding): string =>
  `${state.padEnd(8)} ${subject.padEnd(14)}  ${message}`
