// Deletes tests of gateways that count no longer, with the secrets of those that never ended. [contract 13.test]
import { minuteMs } from '../../../contract/durations.ts'
import type { Services } from '../../context/services.ts'
import { deleteTestsUntil } from './store.ts'

/** Tests are limited in a minute, so those of the last minute are kept. */
export const deleteOldTests = ({ db, clock }: Services): Promise<void> =>
  db.systemTransaction(async (tx) => {
    await deleteTestsUntil(tx, { until: clock.now() - minuteMs })
  })
