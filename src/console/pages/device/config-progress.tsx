// How far the newest version of a config has come, and what the device refused of it.
import { Card, Code, Group, List, Stack, Text } from '@mantine/core'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { settingName } from '../../parts/settings-form/setting-sections.ts'
import { plural } from '../../parts/text/words.ts'
import { ConfigStateMark } from './config-state-mark.tsx'

interface ConfigProgressProps {
  readonly state: ResponseOf<Operations['configStateGet']>
  readonly isConnected: boolean
}

export function ConfigProgress({ state, isConnected }: ConfigProgressProps) {
  const refused = Object.entries(state.rejected)
  return (
    <Card component="section" aria-label="State of the config" bg="var(--rk-panel)" py="sm">
      <Stack gap="xs">
        <Group gap="md" role="status">
          {state.version > 0 && <ConfigStateMark state={state.state} />}
          <Text fz="sm">{sentenceOf(state, isConnected)}</Text>
        </Group>
        {refused.length > 0 && (
          <>
            <Text fz="sm">
              It refused {plural(refused.length, 'setting')}. What it refused is not sent again until you change it.
            </Text>
            <List fz="sm" spacing={4}>
              {refused.map(([name, reason]) => (
                <List.Item key={name}>
                  <b>{settingName(name)}</b> <Code>{name}</Code>: {reason}
                </List.Item>
              ))}
            </List>
          </>
        )}
        {state.state === 'FAILED' && refused.length === 0 && state.error && <Text fz="sm">{state.error}</Text>}
      </Stack>
    </Card>
  )
}

function sentenceOf({ version, state }: ConfigProgressProps['state'], isConnected: boolean): string {
  if (version === 0) return 'Nothing has been set from here yet: the device keeps the settings that it has.'
  if (state === 'DELIVERED') return `The device has version ${version}.`
  if (state === 'FAILED') return `The device did not take all of version ${version}.`
  return isConnected
    ? `Version ${version} waits for the device to answer.`
    : `Version ${version} waits for the device, which is offline. It gets it when it comes back.`
}
