// Saves the whole window as CSV; the export is an entry of the log itself. [contract 4.auditLogs]
import { Button, Tooltip } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation } from '@tanstack/react-query'
import { queryClient, sayFailed } from '../../api.ts'
import { type AuditWindow, localText } from '../../domain/audit/audit-window.ts'
import { DownloadIcon } from '../../parts/page/icons.tsx'
import { saveFile } from '../../parts/page/save-file.ts'
import { client } from '../../session.ts'

const told = 'Exports the whole period, ignoring filters. Exports are logged.'

interface ExportButtonProps {
  readonly window: AuditWindow
  readonly isFiltered: boolean
}

export function ExportButton({ window: { from, to }, isFiltered }: ExportButtonProps) {
  const save = useMutation({
    mutationFn: async () => (await client().auditLogs({ from, to }, { accept: 'text/csv' })).body,
    onSuccess: async (csv) => {
      saveFile(csv, `audit ${day(from)} to ${day(Math.min(to, Date.now()))}.csv`)
      notifications.show({ message: 'Audit log exported', color: 'green' })
      await queryClient.invalidateQueries({ queryKey: ['auditLogs'] })
    },
    onError: (error) => sayFailed(error, 'Export failed'),
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
        {isFiltered ? 'Export CSV (unfiltered)' : 'Export CSV'}
      </Button>
    </Tooltip>
  )
}

const day = (at: number) => localText(at).slice(0, 10)
