// The commands that device-check sends: how the API asks for each, and how its outcome is judged.
import type { Client } from '../../client/client.ts'
import type { DeviceAction } from '../../contract/device/models.ts'
import type { CommandType } from '../../contract/fleet/commands.ts'
import { type CommandFacts, type Facts, statusOf } from './facts.ts'
import { type DeviceVerdict, right, wrong } from './verdict.ts'

export interface CommandTrial {
  /** The word of `actions` in the status with which a device says that it can do this. */
  readonly action: DeviceAction
  readonly section: string
  readonly expects: string
  readonly advice: string
  /** How long the device has, in seconds. */
  readonly limitSeconds: number
  ask(client: Client, endpointId: string): Promise<unknown>
  judge(command: CommandFacts, facts: Facts): DeviceVerdict
}

const cannot = 'If the device cannot do this at all, leave it out of `actions` in the status.'

/** A device that reports success has done it, as far as can be seen from here. */
function judgeOutcome({ reports }: CommandFacts, limitSeconds: number): DeviceVerdict {
  const last = reports.findLast(({ message }) => message.body?.state !== 'ACKNOWLEDGED')?.message.body
  if (!last) return wrong(`No outcome was reported within ${limitSeconds} s.`)
  return last.state === 'FAILED' ? wrong(`It reported FAILED: ${last.error ?? 'no reason'}.`) : right()
}

/** A new command is a row here; the compiler asks for it. */
export const commandTrials: Record<CommandType, CommandTrial> = {
  REBOOT: {
    action: 'reboot',
    section: 'Operations',
    expects: 'On REBOOT it reports ACKNOWLEDGED, reboots, reconnects and then reports SUCCEEDED.',
    advice: `Store the id before the reboot, and report SUCCEEDED with that id on the connection after it. ${cannot}`,
    limitSeconds: 180,
    ask: (client, id) => client.endpointsReboot({ id }),
    judge(command) {
      const { reports, sentOn } = command
      const done = reports.find(({ message }) => message.body?.state === 'SUCCEEDED')
      if (done && done.connection === sentOn) return wrong('It reported SUCCEEDED before it had rebooted.')
      return judgeOutcome(command, this.limitSeconds)
    },
  },
  MESSAGE: {
    action: 'message',
    section: 'Operations',
    expects: 'On MESSAGE it shows the text on its screen and reports SUCCEEDED.',
    advice: `Report SUCCEEDED on up/operation when the text appears, not when it goes. ${cannot}`,
    limitSeconds: 20,
    ask: (client, id) =>
      client.endpointsSendMessage({ body: { message: 'Roomkeeper device-check says hello.', endpointIds: [id] } }),
    judge(command) {
      return judgeOutcome(command, this.limitSeconds)
    },
  },
  COLLECT_LOGS: {
    action: 'logs',
    section: 'Logs',
    expects: 'On COLLECT_LOGS it uploads its logs as gzip and reports UPLOADED.',
    advice: `PUT one gzip file to uploadUrl with HTTP Basic authentication, then report UPLOADED on up/logs. ${cannot}`,
    limitSeconds: 60,
    ask: (client, id) => client.endpointsGenerateBugReport({ body: [id] }),
    judge(command, { uploads }) {
      const refused = uploads.find(({ isStaged, status }) => !isStaged && status !== 200)
      if (refused) return wrong(`The service answered ${refused.status} to the upload: ${refused.message}`)
      if (!uploads.some(({ status }) => status === 200)) return judgeUpload(command, this.limitSeconds)
      const isReported = command.reports.some(({ message }) => message.body?.state === 'UPLOADED')
      return isReported ? right() : wrong('It uploaded the logs and did not report UPLOADED on up/logs.')
    },
  },
  // Switching off could end the walk, because a device can leave the network then.
  POWER: {
    action: 'power',
    section: 'Operations',
    expects: 'On POWER with `on` true it switches on, sends a status with `power` ON and reports SUCCEEDED.',
    advice: `Send the status with the new power before SUCCEEDED: the service waits for it. ${cannot}`,
    limitSeconds: 60,
    ask: (client, id) => client.endpointsPower({ id, body: { on: true } }),
    judge(command, facts) {
      const outcome = judgeOutcome(command, this.limitSeconds)
      const { power } = statusOf(facts)
      if (outcome.state !== 'right' || power === 'ON') return outcome
      return wrong(`It reported SUCCEEDED, and its \`power\` is ${power ?? 'not reported'}.`)
    },
  },
}

function judgeUpload({ reports }: CommandFacts, limitSeconds: number): DeviceVerdict {
  const last = reports.at(-1)?.message.body
  if (!last) return wrong(`No logs were uploaded within ${limitSeconds} s.`)
  const reason = last.error === undefined ? '' : ` (${last.error})`
  return wrong(`It reported ${last.state}${reason} and uploaded no logs.`)
}
