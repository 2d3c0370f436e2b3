// Devices that are seen through a gateway. The rows say so; enrolment through a gateway is not part of the protocol yet.
import type { Harness } from '../harness.ts'

/** Makes an endpoint the gateway of others. */
export async function putBehindGateway(
  { services }: Pick<Harness, 'services'>,
  gateway: string,
  devices: readonly string[],
): Promise<void> {
  await services.db.systemTransaction(({ kysely }) =>
    kysely.updateTable('endpoints').set({ via: gateway }).where('id', 'in', devices).execute(),
  )
  services.db.invalidateAll()
}
