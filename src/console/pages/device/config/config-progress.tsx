// Shows the delivery of the newest config version, and the settings that the device rejected.
import { Card, Code, Group, List, Stack, Text } from '@mantine/core'
import { settingName } from '../../../../contract/device/setting-names.ts'
import type { ResponseOf } from '../../../../contract/operation.ts'
import type { Operations } from '../../../../contract/operations.ts'
import { ConfigStateMark } from '../../../domain/fleet/device/config-state-mark.tsx'
import { plural } from '../../../parts/text/words.ts'

interface ConfigProgressProps {
  readonly state: ResponseOf<Operations['configStateGet']>
  readonly isConnected: boolean
}

export function ConfigProgress({ state, isConnected }: ConfigProgressProps) {
  const rejected = Object.entries(state.rejected)
  return (
    <Card component="section" aria-label="Settings status" bg="var(--rk-panel)" py="sm">
      <Stack gap="xs">
        <Group gap="md" role="status">
          {state.version > 0 && <ConfigStateMark state={state.state} />}
          <Text fz="sm">{progressText(state, isConnected)}</Text>
        </Group>
        {rejected.length > 0 && (
          <>
            <Text fz="sm">
              {plural(rejected.length, 'setting')} rejected. Rejected settings are not sent again until you change them.
            </Text>
            <List fz="sm" spacing={4}>
              {rejected.map(([name, reason]) => (
                <List.Item key={name}>
                  <b>{settingName(name)}</b> <Code>{name}</Code>: {reason}
                </List.Item>
              ))}
            </List>
          </>
        )}
        {state.notForDevice && (
          <Text fz="sm">
            Not for this device: {state.notForDevice.map(settingName).join(', ')}. The device does not have{' '}
            {state.notForDevice.length === 1 ? 'this setting' : 'these settings'}.
          </Text>
        )}
        {state.state === 'FAILED' && rejected.length === 0 && state.error && <Text fz="sm">{state.error}</Text>}
      </Stack>
    </Card>
  )
}

function progressText({ version, state }: ConfigProgressProps['state'], isConnected: boolean): string {
  if (version === 0) return 'Not managed yet. The device uses its own settings.'
  if (state === 'DELIVERED') return `Version ${version} is active.`
  if (state === 'FAILED') return `The device did not accept all settings of version ${version}.`
  return isConnected
    ? `Waiting for the device to confirm version ${version}.`
    : `Version ${version} will be applied when the device is back online.`
}
