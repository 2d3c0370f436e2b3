// The label of a device or a room that is being restarted, with the seconds since a person asked for it.
import { RebootIcon } from '../../../parts/page/icons.tsx'
import { useNow } from '../../../parts/text/now.ts'
import { StatusLabel } from '../../../parts/text/status-label.tsx'
import { ageText } from '../../../parts/text/time.tsx'

export function RestartingLabel({ sinceMs }: { readonly sinceMs: number }) {
  const now = useNow(1000)
  return (
    <StatusLabel tone="plain" icon={<RebootIcon size={16} />}>
      Restarting, {ageText(sinceMs, now)}
    </StatusLabel>
  )
}
