// Saves the table above or below it as CSV, with all rows and figures of its report.
import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useEffect } from 'react'
import type { CallInput } from '../../../../client/client.ts'
import { notifyError } from '../../../api.ts'
import { type ReportId, readReportCsv } from '../../../domain/reports/report-query.ts'
import { DownloadIcon } from '../../../parts/page/icons.tsx'
import { saveFile } from '../../../parts/page/save-file.ts'
import type { InsightView } from '../insight-view.ts'

interface CsvButtonProps<K extends ReportId> {
  readonly report: K
  readonly input: CallInput<K>
  /** Names the table and its file. */
  readonly of: string
  /** The value of `save` in an address that saves the table when it is opened. */
  readonly saveAs?: string
  readonly view?: InsightView
}

export function CsvButton<K extends ReportId>({ report, input, of, saveAs = 'csv', view }: CsvButtonProps<K>) {
  const download = useMutation({
    mutationFn: () => readReportCsv(report, input),
    onSuccess: (csv) => saveFile(csv, `${of}.csv`),
    onError: (error) => notifyError(error, 'Download failed'),
  })
  const { mutate } = download
  const isAsked = view?.search.save === saveAs
  const change = view?.change
  useEffect(() => {
    if (!isAsked) return
    change?.({ save: undefined })
    mutate()
  }, [isAsked, change, mutate])
  return (
    <Button
      variant="subtle"
      size="compact-sm"
      leftSection={<DownloadIcon size={16} />}
      aria-label={`Download CSV: ${of}`}
      loading={download.isPending}
      onClick={() => download.mutate()}
    >
      CSV
    </Button>
  )
}
