// `roomkeeper gateway-devices import`.
import { readOrganisation } from '../../apply/read-organisation.ts'
import { gatewayDeviceSheetColumns, readGatewayDevices } from '../../csv/gateway-devices.ts'
import { readCsv } from '../../csv/read-csv.ts'
import { type ImportPlan, planImport } from '../../csv/row-fates.ts'
import { isEnvSecret } from '../../plan/compare.ts'
import type { Snapshot } from '../../plan/things.ts'
import { CommandError } from '../terminal/command-error.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { type ImportOptions, importFile } from './import-file.ts'

/** Stands for the password that a person enters; the names of variables in files have no spaces. */
const asked = 'the password'

export const gatewayDevicesImport = (
  terminal: Terminal,
  gateway: string,
  file: string,
  { setSecrets = false, ...options }: ImportOptions & { readonly setSecrets?: boolean },
): Promise<void> =>
  importFile(terminal, file, options, {
    columns: ['result'],
    plan: async (client, bytes, organisation) => {
      const sheet = gatewayDeviceSheetColumns.sheet(readCsv(bytes, gatewayDeviceSheetColumns.has))
      const snapshot = await readOrganisation(client, { organisation, gatewayDevices: [] })
      const planWith = (secretForAll?: { env: string }) => {
        const context = { organisation, gateway: serialOf(snapshot, gateway), secretForAll }
        return planImport(readGatewayDevices(sheet, context), snapshot, { setSecrets })
      }
      const hasSecrets = sheet.places.has('secret')
      const plan = planWith(hasSecrets ? undefined : { env: asked })
      const needed = variablesIn(plan)
      const missing = [...needed].filter((name) => name !== asked && terminal.variable(name) === undefined)
      if (missing.length > 0) throw new CommandError(`Set the variables that the file names: ${missing.join(', ')}.`)
      if (!needed.has(asked)) return { sheet, plan, secretOf: variableOf(terminal) }
      const password = await askPassword(terminal)
      if (password === '') return { sheet, plan: planWith(), secretOf: variableOf(terminal) }
      const secretOf = (name: string) => (name === asked ? password : variableOf(terminal)(name))
      return { sheet, plan, secretOf }
    },
  })

function serialOf({ gateways }: Snapshot, text: string): string {
  const found = gateways.filter(({ id, serial, name }) => [id, serial, name].includes(text))
  if (found[0] && found.length === 1) return found[0].serial
  const serials = (found.length > 0 ? found : gateways).map(({ serial }) => serial)
  if (found.length > 0) throw new CommandError(`${found.length} gateways are called ${text}: ${serials.join(', ')}.`)
  throw new CommandError(
    serials.length === 0
      ? 'There is no gateway. Start one with "roomkeeper gateway".'
      : `No gateway is called ${text}. There are ${serials.join(', ')}.`,
  )
}

/** A plan names the secrets of new devices only, unless --set-secrets is given. */
const variablesIn = ({ plan: { steps } }: ImportPlan): Set<string> =>
  new Set(
    steps.flatMap(({ after }) =>
      [...Object.values(after), ...Object.values((after.options ?? {}) as object)].flatMap((value) =>
        isEnvSecret(value) ? [value.env] : [],
      ),
    ),
  )

const variableOf = (terminal: Terminal) => (name: string) => terminal.variable(name) ?? ''

async function askPassword(terminal: Terminal): Promise<string> {
  if (!terminal.canAsk) {
    throw new CommandError(
      'The file has no column secret. Add it with cells such as env:NAME; an empty cell means none.',
    )
  }
  return terminal.ask('Password for all devices of the file (empty: none): ', { isSecret: true })
}
