// Shows one bug report: its support ID, the progress of each device, and the log bundles to download.
import { Button, Card, Group, Progress, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ResponseOf } from '../../../contract/operation.ts'
import type { Operations } from '../../../contract/operations.ts'
import { operationQuery, useWrite } from '../../api.ts'
import { deviceName } from '../../domain/fleet/device/device.ts'
import { CancelledIcon, ClockIcon, DownloadIcon, SkippedIcon } from '../../parts/page/icons.tsx'
import { ErrorText } from '../../parts/page/page.tsx'
import { saveFile } from '../../parts/page/save-file.ts'
import { CopyableText } from '../../parts/text/definition-list.tsx'
import { StateBadge, type StateLook } from '../../parts/text/status-label.tsx'
import { DateTime } from '../../parts/text/time.tsx'
import { plural } from '../../parts/text/words.ts'
import { usePermissions } from '../../session.ts'
import classes from './device-list.module.css'

type ReportDevice = ResponseOf<Operations['bugReportsGet']>['endpoints'][number]

const states: Record<ReportDevice['state'], StateLook> = {
  REQUESTED: { label: 'Waiting for the device', tone: 'quiet', icon: <ClockIcon size={16} /> },
  UPLOADED: { label: 'Ready', tone: 'calm' },
  FAILED: { label: 'Failed', tone: 'danger' },
  EXPIRED: { label: 'Timed out', tone: 'warning' },
  CANCELLED: { label: 'Cancelled', tone: 'quiet', icon: <CancelledIcon size={16} /> },
  SKIPPED: { label: 'Skipped', tone: 'quiet', icon: <SkippedIcon size={16} /> },
}

export function BugReport({ supportId, onClose }: { readonly supportId: string; readonly onClose: () => void }) {
  const { data, error } = useQuery(operationQuery('bugReportsGet', { supportId }))
  const report = data?.body
  const readyCount = report?.endpoints.filter(({ state }) => state === 'UPLOADED').length ?? 0
  const isWaiting = report?.endpoints.some(({ state }) => state === 'REQUESTED') ?? true
  return (
    <Card component="section" aria-label={`Report ${supportId}`} bg="var(--rk-panel)">
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" wrap="nowrap">
          <div>
            <Title order={2} fz="sm" fw={500} c="dimmed">
              Support ID
            </Title>
            <CopyableText text={supportId} what="support ID" large />
          </div>
          <Button variant="default" size="xs" onClick={onClose} aria-label={`Close report ${supportId}`}>
            Close
          </Button>
        </Group>
        <ErrorText error={error} />
        {report && (
          <>
            <Text fz="sm" c="dimmed" role="status">
              {readyCount} of {plural(report.endpoints.length, 'device')} delivered, call logs{' '}
              {report.uploadInCallLogs ? 'included' : 'not included'}. Requested <DateTime at={report.createdAt} />.
              Files are kept until <DateTime at={report.expiresAt} />.
            </Text>
            {isWaiting && (
              <Progress
                value={(100 * readyCount) / report.endpoints.length}
                size="sm"
                aria-label="Devices that delivered logs"
                animated
                striped
              />
            )}
            <ul className={classes.list}>
              {report.endpoints.map((item) => (
                <Delivery key={item.endpointId} supportId={report.supportId} item={item} />
              ))}
            </ul>
          </>
        )}
      </Stack>
    </Card>
  )
}

function Delivery({ supportId, item }: { readonly supportId: string; readonly item: ReportDevice }) {
  return (
    <li>
      <div className={classes.device}>
        <Link to="/devices/$endpointId" params={{ endpointId: item.endpointId }}>
          {deviceName(item)}
        </Link>
        <StateBadge look={states[item.state]} />
        {item.error && (
          <Text span fz="sm" c="dimmed">
            {item.error}
          </Text>
        )}
      </div>
      {item.file && <Download supportId={supportId} file={item.file} sizeBytes={item.size} name={deviceName(item)} />}
    </li>
  )
}

interface DownloadProps {
  readonly supportId: string
  readonly file: string
  readonly sizeBytes: string | undefined
  readonly name: string
}

function Download({ supportId, file, sizeBytes, name }: DownloadProps) {
  const may = usePermissions()
  const download = useWrite('bugReportsFileGet', {
    onDone: (content) => saveFile(content, `${supportId} ${name}.log.gz`.replaceAll(' ', '-')),
  })
  const text = sizeBytes === undefined ? 'Download' : `Download (${sizeText(Number(sizeBytes))})`
  if (!may.write) {
    return (
      <Text fz="xs" c="dimmed">
        Logs can contain personal data. Your access does not include downloading them.
      </Text>
    )
  }
  return (
    <Group gap="xs">
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<DownloadIcon size={15} />}
        loading={download.isPending}
        onClick={() => download.mutate({ input: { supportId, name: file } })}
        aria-label={`Download logs from ${name}`}
      >
        {text}
      </Button>
    </Group>
  )
}

function sizeText(bytes: number): string {
  if (bytes < 1000) return plural(bytes, 'byte')
  return bytes < 1e6 ? `${Math.round(bytes / 1000)} KB` : `${(bytes / 1e6).toFixed(1)} MB`
}
