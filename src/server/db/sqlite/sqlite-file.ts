// The place of the SQLite database in the data folder.
import { join } from 'node:path'

export const sqliteFileOf = (dataDir: string): string => join(dataDir, 'roomkeeper.db')
