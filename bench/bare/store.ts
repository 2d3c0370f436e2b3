// The baseline of our sample store: better-sqlite3 in a loop, two prepared statements per sample, one transaction per batch.
import { join } from 'node:path'
import Database from 'better-sqlite3'

const values = ['co2', 'humidity', 'illumination', 'people', 'temp', 'voc', 'voc_index', 'shutter_closed']
const columns = values.map((name) => `${name} integer`).join()
const assignments = ['timestamp', ...values].map((name) => `${name} = excluded.${name}`).join()

/** The columns of one row, with values as the database stores them. */
export type BareRow = readonly [endpoint: number, timestamp: number, ...values: (number | null)[]]

export class BareStore {
  readonly #db: Database.Database
  readonly #insert: Database.Statement
  readonly #upsert: Database.Statement

  constructor(folder: string) {
    const db = new Database(join(folder, 'bare.db'))
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    db.exec(`CREATE TABLE samples (org integer, slot integer, endpoint integer, timestamp integer, ${columns},
      PRIMARY KEY (org, slot, endpoint, timestamp)) WITHOUT ROWID`)
    db.exec(`CREATE TABLE latest (org integer, endpoint integer, timestamp integer, ${columns},
      PRIMARY KEY (org, endpoint)) WITHOUT ROWID`)
    const placeholders = '?, ?, ?, ?, ?, ?, ?, ?'
    this.#db = db
    this.#insert = db.prepare(`INSERT INTO samples VALUES (1, ?, ?, ?, ${placeholders}) ON CONFLICT DO NOTHING`)
    this.#upsert = db.prepare(`INSERT INTO latest VALUES (1, ?, ?, ${placeholders})
      ON CONFLICT (org, endpoint) DO UPDATE SET ${assignments} WHERE excluded.timestamp > timestamp`)
  }

  write(rows: readonly BareRow[]): void {
    this.#db.exec('BEGIN IMMEDIATE')
    for (const row of rows) {
      this.#insert.run(Math.floor(row[1] / 300), ...row)
      this.#upsert.run(...row)
    }
    this.#db.exec('COMMIT')
  }

  count(): number {
    return this.#db.prepare('SELECT count(*) FROM samples').pluck().get() as number
  }

  close(): void {
    this.#db.close()
  }
}
