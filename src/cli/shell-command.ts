// Commands of this program as a shell takes them: pasted as printed, they reach the database of the server that printed them.
import { resolve } from 'node:path'
import type { DatabaseOptions } from '../server/config/server-options.ts'
import { withoutPassword } from '../server/config/server-record.ts'
import { secretKeyVariable } from '../server/core/secrets.ts'
import { shellWord } from '../server/core/text.ts'
import type { Terminal } from './terminal/terminal.ts'

/** Paths are absolute: the shell may be in another folder than the server was. */
export const shellCommand = ({ program }: Terminal, options: DatabaseOptions, ...args: string[]): string =>
  [...program, ...args, ...placeFlags(options)].map(shellWord).join(' ')

/** An address with a password is left out. The command finds it in the config file, in its variables, or without the password in server.json. */
function placeFlags({ config, dataDir, secretKeyFile, databaseUrl }: DatabaseOptions): string[] {
  return [
    ...(config === undefined ? [] : ['--config', resolve(config)]),
    '--data-dir',
    resolve(dataDir),
    ...(secretKeyFile === undefined ? [] : ['--secret-key-file', resolve(secretKeyFile)]),
    ...(databaseUrl && !hasPassword(databaseUrl) ? ['--database-url', databaseUrl] : []),
  ]
}

const hasPassword = (databaseUrl: string): boolean => withoutPassword(databaseUrl) !== databaseUrl

/** Says which secrets a printed command needs in variables, because no output may contain them. */
export function neededVariables({ config, databaseUrl, secretKey }: DatabaseOptions): string | undefined {
  const names = [
    ...(databaseUrl && hasPassword(databaseUrl) && config === undefined ? ['ROOMKEEPER_DATABASE_URL'] : []),
    ...(secretKey === undefined ? [] : [secretKeyVariable]),
  ]
  return names.length === 0
    ? undefined
    : `Set ${names.join(' and ')} to the server's value${names.length === 1 ? '' : 's'} before you run these commands.`
}
