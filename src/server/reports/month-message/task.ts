// Writes a message `report.month` for each channel that chose it. [contract 16.monthMessage]
import { secondMs } from '../../../contract/durations.ts'
import type { Org } from '../../auth/token-holder.ts'
import { type Actor, RequestContext } from '../../context/request-context.ts'
import type { Services } from '../../context/services.ts'
import { Failure } from '../../core/failure.ts'
import { RegionAccess } from '../../core/region-access.ts'
import { hasMessage } from '../../journal/outbox/message-store.ts'
import { channelsThatChose, queueForChannel } from '../../journal/outbox/outbox.ts'
import { monthText } from '../month/month-report.ts'
import type { ReportQueue } from '../turns.ts'
import { dueMonth } from './due.ts'
import { type ChannelPlaces, makeMonthMessage } from './make.ts'

const actor: Actor = { type: 'SYSTEM', id: 'reports', name: 'Reports' }

interface ReportOrg extends Org {
  readonly timezone: string
}

export async function writeMonthMessages(
  services: Services,
  org: ReportOrg,
  queue: ReportQueue,
  signal: AbortSignal,
): Promise<void> {
  const month = dueMonth(org.timezone, services.clock.now() / secondMs)
  if (month === undefined) return
  const db = services.db.forOrg(org.key)
  for (const channel of await channelsThatChose(db, 'report.month')) {
    if (signal.aborted) return
    const orderKey = `report ${channel.channelId} ${monthText(month)}`
    if (await hasMessage(db, { orderKey })) continue
    const message = await makeUnlessBusy(contextFor(services, org, channel), channel, month, queue)
    if (!message) continue
    await db.telemetry((tx) =>
      queueForChannel(tx, channel.channelId, {
        type: 'report.month',
        orderKey,
        data: { report: message },
        at: services.clock.now(),
      }),
    )
  }
}

const contextFor = (services: Services, org: Org, { regionIds }: ChannelPlaces): RequestContext =>
  new RequestContext(services, {
    org,
    actor,
    may: () => true,
    access: regionIds.length > 0 ? RegionAccess.of(regionIds) : RegionAccess.everything,
  })

/** Undefined if there is nothing to send yet, or if the reports of callers take so long that this one must wait for the next run. */
async function makeUnlessBusy(ctx: RequestContext, places: ChannelPlaces, month: number, queue: ReportQueue) {
  try {
    return await makeMonthMessage(ctx, places, month, queue)
  } catch (error) {
    if (error instanceof Failure && error.code === 'UNAVAILABLE') return undefined
    throw error
  }
}
