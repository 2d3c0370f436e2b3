// SQL of the metrics of incidents, over all organisations.
import { systemQuery } from '../../db/system.ts'

export const countOpenIncidents = systemQuery((db, _: object) =>
  db
    .selectFrom('incidents')
    .select(['severity', (e) => e.fn.countAll<number | string>().as('count')])
    .where((e) => e.or([e('state', '=', 'OPEN'), e('state', '=', 'ACKNOWLEDGED')]))
    .groupBy('severity'),
)
