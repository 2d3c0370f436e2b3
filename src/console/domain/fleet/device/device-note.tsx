// Shows the note of a device, in its lines.
import { Text } from '@mantine/core'
import type { DeviceDetails } from './device.ts'
import classes from './device-note.module.css'

export const DeviceNote = ({ device: { note } }: { readonly device: Pick<DeviceDetails, 'note'> }) =>
  note === undefined ? null : (
    <Text fz="sm" dir="auto" className={classes.note}>
      {note}
    </Text>
  )
