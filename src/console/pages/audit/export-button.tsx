// Saves the whole window as CSV; the export is an entry of the log itself. [contract 4.auditLogs]
import { Button, Tooltip } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { notifyError, queryClient } from '../../api.ts'
import { type AuditWindow, dateTimeLocalText } from '../../domain/audit/audit-window.ts'
import { DownloadIcon } from '../../parts/page/icons.tsx'
import { saveFile } from '../../parts/page/save-file.ts'
import { client } from '../../session.ts'

const told =
  'All entries of this time, whatever the filters hide. That somebody exported them is written to the log too.'

interface ExportButtonProps {
  readonly window: AuditWindow
  readonly isFiltered: boolean
}

export function ExportButton({ window: { from, to }, isFiltered }: ExportButtonProps) {
  const save = useMutation({
    mutationFn: async () => (await client().auditLogs({ from, to }, { accept: 'text/csv' })).body,
    onSuccess: async (csv) => {
      saveFile(csv, `audit ${day(from)} to ${day(Math.min(to, Date.now()))}.csv`)
      notifications.show({ message: 'The audit log was exported, and the export was logged.', color: 'green' })
      await queryClient.invalidateQueries({ queryKey: ['auditLogs'] })
    },
    onError: (error) => notifyError(error, 'The export did not work'),
  })
  return (
    <Tooltip label={told} multiline maw={300}>
      <Button
        variant="default"
        leftSection={<DownloadIcon />}
        loading={save.isPending}
        disabled={from >= to}
        aria-description={told}
        onClick={() => save.mutate()}
      >
        {isFiltered ? 'Export CSV, unfiltered' : 'Export CSV'}
      </Button>
    </Tooltip>
  )
}

const day = (at: number) => dateTimeLocalText(at).slice(0, 10)
