// Reads the type int8 of PostgreSQL as a number: the times, counts and positions stored as int8 stay far below 2^53.
import pg from 'pg'

export const int8AsNumber = {
  getTypeParser: (oid: number, format?: string) =>
    oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as 'text'),
} as pg.CustomTypesConfig
