// The program of a device with every handler, for the test of the installed package: it prints what it is asked for.

/** Its first answer is that it is in use. It ends when it is unenrolled. */
export const everyHandlerProgram = `import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { Agent, requestEnrolment } from 'roomkeeper-device'

const say = (...words) => process.stdout.write(words.join(' ') + '\\n')
const request = { code: process.env.CODE, serial: 'NB1-0043', model: 'NF19B1' }
const identity = await requestEnrolment(process.env.ROOMKEEPER, request)
let state
let settings = {}
let isInUse = true
const agent = new Agent({
  identity,
  status: { firmwareVersion: '1.0.0' },
  storage: { load: () => state, save: (changed) => void (state = changed) },
  handlers: {
    settings: () => settings,
    applyConfig: ({ nightMode, ...config }, version) => {
      say('config', version)
      settings = config
      return nightMode === undefined ? undefined : { nightMode: 'It has no screen.' }
    },
    isInUse: () => {
      say(isInUse ? 'in use' : 'not in use')
      isInUse = !isInUse
      return !isInUse
    },
    reboot: async () => {
      say('reboot')
      await agent.stop()
      await agent.start()
    },
    showMessage: (text, durationMs) => say('message', text, durationMs),
    collectLogs: ({ inCallLogs }) => {
      say('logs', inCallLogs)
      return gzipSync('all is well')
    },
  },
})
agent.on('messageRefused', ({ kind, field, reason }) => say('refused', kind, field, reason))
agent.on('samplesRefused', ({ refused }) => say('refused samples', refused.length))
agent.on('warning', (warning) => say('warning', warning))
await agent.start()
await once(agent, 'connected')
await agent.sample([{ timestamp: Math.floor(Date.now() / 1000), temp: 21.5 }])
await once(agent, 'unenrolled')
say('unenrolled')
`
