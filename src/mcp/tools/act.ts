// Tools that disturb people or are hard to take back. Each says first what would happen, and needs a confirmation.
import Type, { type Static } from 'typebox'
import { hourMs } from '../../contract/durations.ts'
import type { BodyOf } from '../../contract/operation.ts'
import { type Operations, operations } from '../../contract/operations.ts'
import { guardedTool, type ToolContext, type ToolPlan } from '../tool.ts'
import { shownDevice, type TargetDevices, targetedDevices, targetFields } from './devices.ts'
import { incidentIdField, jobIdField, roomIdField } from './fields.ts'
import { shownIncident } from './look.ts'

const timing = {
  whenEmpty: Type.Optional(
    Type.Boolean({ description: 'Whether each room waits until nobody is in it and no call is on; default true.' }),
  ),
  withinHours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 336,
      description: 'Rooms that were not empty within so many hours are left out; default 24.',
    }),
  ),
}
const Timing = Type.Object(timing)

type JobRequest = BodyOf<Operations['jobsPlan']>

/** One job for all devices, which goes from room to room and can be cancelled. */
async function planJob(
  { client, now }: ToolContext,
  name: string,
  action: JobRequest['action'],
  { whenEmpty = true, withinHours = 24, ...target }: TargetDevices & Static<typeof Timing>,
): Promise<ToolPlan> {
  const devices = await targetedDevices(client, target)
  const ids = devices.map(({ id }) => id)
  const requestAt = (plannedAt: number) => ({
    ...{ name, action, target: { endpointIds: ids }, respect: { idle: whenEmpty } },
    deadline: new Date(plannedAt + withinHours * hourMs).toISOString(),
  })
  const request = requestAt(now())
  const plan = (await client.jobsPlan({ body: request })).body
  return {
    ids,
    effect: {
      ...{ what: name, whenEmpty, deadline: request.deadline },
      ...{ devices: devices.length, rooms: plan.unitCount, devicesThatCannot: plan.unableCount },
      ...{ devicesOffline: plan.offlineCount, roomsThatCannotTell: plan.blindCount, earliestEnd: plan.earliestEnd },
      firstRooms: plan.rooms.slice(0, 50).map(({ name, outcome, reason }) => ({ name, outcome, reason })),
      firstDevices: devices.slice(0, 50).map((device) => {
        const { name, model, roomName, state, inCall } = shownDevice(device)
        return { name, model, roomName, state, inCall }
      }),
    },
    async carryOut({ idempotencyKey, plannedAt }) {
      const body = { ...requestAt(plannedAt), start: true }
      const { id, state } = (await client.jobsCreate({ body }, { idempotencyKey })).body
      return { jobId: id, state, next: 'get_job shows the progress, and cancel_job stops it.' }
    },
  }
}

export const actTools = [
  guardedTool({
    name: 'restart_devices',
    title: 'Restart devices',
    description:
      'Restarts the devices that match, room by room, by default when each room is empty. For requests such as "restart all bars in Oslo when empty".',
    needs: 'operate',
    input: Type.Object({ ...targetFields, ...timing }),
    plan: (context, args) => planJob(context, 'Restart', { type: 'REBOOT' }, args),
  }),
  guardedTool({
    name: 'switch_power',
    title: 'Switch devices on or off',
    description: 'Switches the devices that match on, or to standby. Off waits until each room is empty, by default.',
    needs: 'operate',
    input: Type.Object({
      on: Type.Boolean({ description: 'True switches on, false switches off.' }),
      ...targetFields,
      ...timing,
    }),
    plan: (context, { on, ...args }) =>
      planJob(
        context,
        on ? 'Switch on' : 'Switch off',
        { type: 'POWER', on },
        { ...args, whenEmpty: args.whenEmpty ?? !on },
      ),
  }),
  guardedTool({
    name: 'show_message',
    title: 'Show a message in rooms',
    description: 'Shows a text on the screens of the devices that match, for the people in the rooms.',
    needs: 'operate',
    input: Type.Object({ message: operations.roomsSendMessage.body.properties.message, ...targetFields }),
    plan: (context, { message, ...target }) =>
      planJob(context, 'Message', { type: 'MESSAGE', message }, { ...target, whenEmpty: false, withinHours: 1 }),
  }),
  guardedTool({
    name: 'cancel_job',
    title: 'Cancel a job',
    description: 'Cancels a job: rooms that have not begun are left as they are.',
    needs: 'operate',
    input: Type.Object({ jobId: jobIdField }),
    async plan({ client }, { jobId: id }) {
      const job = (await client.jobsGet({ id })).body
      return {
        ids: [id],
        effect: job,
        carryOut: async ({ idempotencyKey }) => {
          const { state } = (await client.jobsCancel({ id, body: {} }, { idempotencyKey })).body
          return { jobId: id, state }
        },
      }
    },
  }),
  guardedTool({
    name: 'resolve_incident',
    title: 'Close an incident',
    description: 'Closes an incident although its cause may last. It stays closed while the cause lasts.',
    needs: 'operate',
    input: Type.Object({ incidentId: incidentIdField, note: operations.incidentsResolve.body.properties.note }),
    async plan({ client }, { incidentId: id, note }) {
      const incident = (await client.incidentsGet({ id })).body
      return {
        ids: [id],
        effect: { closes: shownIncident(incident), affected: incident.subjects.slice(0, 50) },
        carryOut: async ({ idempotencyKey }) =>
          shownIncident((await client.incidentsResolve({ id, body: { note } }, { idempotencyKey })).body),
      }
    },
  }),
  guardedTool({
    name: 'silence_room',
    title: 'Silence a room',
    description: 'A room opens no incidents for some hours, for example while it is painted.',
    needs: 'operate',
    input: Type.Object({
      roomId: roomIdField,
      hours: Type.Integer({ minimum: 1, maximum: 24, description: 'How many hours from now.' }),
      reason: operations.silencesCreate.body.properties.reason,
    }),
    async plan({ client }, { roomId, hours, reason }) {
      const { id, name, state, location } = (await client.roomsGet({ id: roomId })).body
      return {
        ids: [String(roomId)],
        effect: { silences: { id, name, state, location }, hours, reason },
        async carryOut({ idempotencyKey, plannedAt }) {
          const to = new Date(plannedAt + hours * hourMs).toISOString()
          return (await client.silencesCreate({ body: { place: { roomId }, reason, to } }, { idempotencyKey })).body
        },
      }
    },
  }),
]
