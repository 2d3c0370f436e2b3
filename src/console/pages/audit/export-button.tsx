// Saves the entries of the period that match the filters as CSV; the export itself is logged. [contract 4.auditLogs]
import { Button, Tooltip } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { notifyError, queryClient } from '../../api.ts'
import type { AuditWindow } from '../../domain/journal/audit/audit-window.ts'
import { DownloadIcon } from '../../parts/page/icons.tsx'
import { saveFile } from '../../parts/page/save-file.ts'
import { localDay } from '../../parts/text/time.tsx'
import { client } from '../../session.ts'
import type { EntryFilter } from './audit-entries.ts'

const hint = 'Exports all entries of the period that match the filters. Exports are logged.'

interface ExportButtonProps {
  readonly window: AuditWindow
  readonly filter: EntryFilter
}

export function ExportButton({ window: { from, to }, filter }: ExportButtonProps) {
  const exportCsv = useMutation({
    mutationFn: async () => (await client().auditLogs({ from, to, ...filter }, { accept: 'text/csv' })).body,
    onSuccess: async (csv) => {
      saveFile(csv, `audit ${localDay(from)} to ${localDay(Math.min(to, Date.now()))}.csv`)
      notifications.show({ message: 'Audit log exported', color: 'green' })
      await queryClient.invalidateQueries({ queryKey: ['auditLogs'] })
    },
    onError: (error) => notifyError(error, 'Export failed'),
  })
  return (
    <Tooltip label={hint} multiline maw={300}>
      <Button
        variant="default"
        leftSection={<DownloadIcon />}
        loading={exportCsv.isPending}
        disabled={from >= to}
        aria-description={hint}
        onClick={() => exportCsv.mutate()}
      >
        Export CSV
      </Button>
    </Tooltip>
  )
}
