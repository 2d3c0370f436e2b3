// The change window that forms propose: nights between working days.
import type { WeeklyHours } from '../../../contract/weekly-hours.ts'

export const proposedWindow: WeeklyHours = { days: ['mon', 'tue', 'wed', 'thu'], from: '20:00', to: '05:00' }
