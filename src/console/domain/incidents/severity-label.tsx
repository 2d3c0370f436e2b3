// The severity of an incident as an icon with a label.
import { type Severity, severities } from '../../../contract/incidents/rule-table.ts'
import { InfoIcon } from '../../parts/page/icons.tsx'
import { type StateLook, StatusLabel } from '../../parts/text/status-label.tsx'

const styles: Readonly<Record<Severity, StateLook>> = {
  CRITICAL: { label: 'Critical', tone: 'critical' },
  WARNING: { label: 'Warning', tone: 'warning' },
  INFO: { label: 'Info', tone: 'quiet', icon: <InfoIcon size={16} /> },
}

export const severityName = (severity: Severity): string => styles[severity].label

interface SeverityLabelProps {
  readonly severity: Severity
  /** False for the severity of a rule or of a past incident: nothing is wrong now. */
  readonly isBadge?: boolean
}

export const SeverityLabel = ({ severity, isBadge = true }: SeverityLabelProps) => (
  <StatusLabel tone={styles[severity].tone} icon={styles[severity].icon} isBadge={isBadge}>
    {styles[severity].label}
  </StatusLabel>
)

/** The choices of a select, the worst severity first. */
export const severityChoices = severities.toReversed().map((value) => ({ value, label: styles[value].label }))
