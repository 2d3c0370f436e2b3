// The severity of an incident as an icon with a label.
import { type Severity, severities } from '../../../contract/incidents/rule-table.ts'
import { InfoIcon } from '../../parts/page/icons.tsx'
import { StateBadge, type StateLook } from '../../parts/text/status-label.tsx'

const styles: Readonly<Record<Severity, StateLook>> = {
  CRITICAL: { label: 'Critical', tone: 'critical' },
  WARNING: { label: 'Warning', tone: 'warning' },
  INFO: { label: 'Info', tone: 'quiet', icon: <InfoIcon size={16} /> },
}

export const severityName = (severity: Severity): string => styles[severity].label

export const SeverityLabel = ({ severity }: { readonly severity: Severity }) => <StateBadge look={styles[severity]} />

/** The choices of a select, the worst severity first. */
export const severityChoices = severities.toReversed().map((value) => ({ value, label: styles[value].label }))
