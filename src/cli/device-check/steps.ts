// The steps of `roomkeeper device-check` in their order: the title of each, and what happens in it.

export const walkSteps = {
  enrolment: { title: 'Enrolment', does: 'The first request is answered with 503, the next one by the service.' },
  connection: { title: 'Connection and messages', does: 'The device connects, reports and subscribes.' },
  samples: { title: 'Samples', does: 'The next sample is awaited.' },
  reconnect: { title: 'Reconnecting', does: 'The connection is cut, and the next CONNECT gets CONNACK 3.' },
  outage: { title: 'A restart of the service', does: 'The service stops and starts; the next CONNECT gets CONNACK 5.' },
  config: { title: 'Config', does: 'Settings are set and unset.' },
  commands: { title: 'Commands', does: 'The device is asked to reboot, to show a message and to upload its logs.' },
  answers: {
    title: 'Unusual messages',
    does: 'The device gets refusals, and messages of kinds that it does not know.',
  },
  takeover: { title: 'A second connection', does: 'Another client connects with the credential of the device, twice.' },
  acknowledgement: { title: 'A lost acknowledgement', does: 'PUBACKs are withheld, then the connection is cut.' },
  unenrolment: { title: 'Unenrolment', does: 'The device is unenrolled, and must not connect again.' },
} as const
export type Step = keyof typeof walkSteps
export const allSteps = Object.keys(walkSteps) as Step[]

/** Every other step needs these. */
export const neededSteps: readonly Step[] = ['enrolment', 'connection']
